#include "library/worker/atomic_calls.h"

#include "runtime/rpc/control_ids.h"

namespace pstrain {

AtomicCalls::AtomicCalls(GrantSession& session, Decided decided, Stopped stopped)
    : session_(session), decided_(std::move(decided)), stopped_(std::move(stopped)) {
  thread_ = std::jthread([this] { Run(); });
}

AtomicCalls::~AtomicCalls() {
  const MutexLock lock(mutex_);
  closing_ = true;
  changed_.NotifyAll();
}

// It is here before the session can decide it.
void AtomicCalls::Add(ClosurePushes::Closure call, std::string prepared) {
  PreparedCall sent;
  *sent.mutable_work_id() = call.grant.work_id();
  sent.set_chief_term(call.grant.chief_term());
  sent.set_outcome(std::move(prepared));
  {
    const MutexLock lock(mutex_);
    const Key key{FromWire(call.grant.work_id()), call.grant.chief_term()};
    waiting_.insert_or_assign(key, std::move(call));
    changed_.NotifyAll();
  }
  session_.Prepare(std::move(sent));
}

std::size_t AtomicCalls::waiting() const {
  const MutexLock lock(mutex_);
  return waiting_.size();
}

bool AtomicCalls::AwaitOne() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !closing_) changed_.Wait(mutex_);
  return !waiting_.empty();
}

ClosurePushes::Closure AtomicCalls::Take(const Key& key) {
  const MutexLock lock(mutex_);
  return std::move(waiting_.extract(key).mapped());
}

void AtomicCalls::Run() {
  while (AwaitOne()) {
    std::optional<GrantSession::Decided> decided = session_.NextDecided();
    if (!decided) return stopped_();
    decided_(Take({decided->work_id, decided->chief_term}), std::move(decided->instead));
  }
}

}  // namespace pstrain
