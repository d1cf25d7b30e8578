// What atomic functions have come to, on its way to the chief (docs/design/atomic-functions.md).
#include <algorithm>
#include <cstddef>
#include <utility>

#include "runtime/cluster/limits.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/worker/grant_session.h"

namespace pstrain {

void GrantSession::Prepare(PreparedCall call) {
  const MutexLock lock(mutex_);
  if (given_back_all_) return;
  if (Void(call.chief_term())) {
    Decide(call, "");
  } else {
    prepared_.push_back(std::move(call));
  }
  changed_.NotifyAll();
}

std::optional<GrantSession::Decided> GrantSession::NextDecided() {
  const MutexLock lock(mutex_);
  while (decided_.empty() && !given_back_all_ && end_ == SessionEnd::kNone) changed_.Wait(mutex_);
  if (decided_.empty() || given_back_all_) return std::nullopt;
  Decided decided = std::move(decided_.front());
  decided_.pop_front();
  return decided;
}

void GrantSession::AddPrepared(PollWorkerRequest* request) {
  std::size_t bytes = 0;
  for (const PreparedCall& call : prepared_) {
    bytes += call.outcome().size();
    if (bytes > kMostPreparedInPoll) return;
    *request->add_prepared() = call;
  }
}

void GrantSession::Decide(const PreparedCall& call, std::optional<std::string> instead) {
  decided_.push_back({FromWire(call.work_id()), call.chief_term(), std::move(instead)});
}

// What a former chief has granted is void, whether or not this one was asked. Invariant: prepared_
// begins with what the poll has brought, unless all was given back meanwhile.
void GrantSession::DecidePrepared(const PollWorkerRequest& request, PollWorkerReply* reply) {
  const auto of = [reply](const PreparedCall& call) -> std::optional<std::string> {
    for (PreparedCall& answer : *reply->mutable_prepared()) {
      const bool same = FromWire(answer.work_id()) == FromWire(call.work_id());
      if (same && answer.chief_term() == call.chief_term()) {
        return std::move(*answer.mutable_outcome());
      }
    }
    return std::nullopt;
  };
  std::deque<PreparedCall> waiting;
  int taken = request.prepared_size();
  for (PreparedCall& call : prepared_) {
    const bool asked = taken-- > 0;
    if (Void(call.chief_term())) {
      Decide(call, "");
    } else if (asked) {
      Decide(call, of(call));
    } else {
      waiting.push_back(std::move(call));
    }
  }
  prepared_ = std::move(waiting);
}

}  // namespace pstrain
