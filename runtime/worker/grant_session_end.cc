// What the chief decides of prepared calls (docs/design/atomic-functions.md) and of functions that
// run (docs/design/hung-functions.md), and how a worker's conversation with it ends.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/clock.h"
#include "proto/contract/exit_codes.h"
#include "runtime/cluster/limits.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/worker/grant_session.h"

namespace pstrain {
namespace {

/// Between two looks whether the chief has ended the session.
constexpr std::chrono::milliseconds kLook{200};
/// How long a worker that fails waits for the chief to hear why and what it gives back.
constexpr std::chrono::seconds kLastWord{5};

}  // namespace

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

void GrantSession::Listen(std::function<void(const Told&)> told) {
  const MutexLock lock(mutex_);
  listener_ = std::move(told);
  if (listener_ && end_ != SessionEnd::kNone) listener_({.ended = true});
}

// What is queued was granted by the chief that answers: the rest was dropped before.
void GrantSession::Tell(const PollWorkerReply& reply) {
  Told told;
  for (const WireWorkId& wire : reply.stop()) told.stop.push_back(FromWire(wire));
  for (const WireWorkId& wire : reply.give_up()) told.give_up.push_back(FromWire(wire));
  told.ended = end_ != SessionEnd::kNone;
  std::erase_if(queue_, [this, &told](const Grant& grant) PSTRAIN_REQUIRES(mutex_) {
    const WorkId work_id = FromWire(grant.work_id());
    if (std::ranges::count(told.stop, work_id) + std::ranges::count(told.give_up, work_id) == 0)
      return false;
    in_flight_.erase(work_id);
    idle_ = false;
    return true;
  });
  const bool any = told.ended || !told.stop.empty() || !told.give_up.empty();
  if (listener_ && any) listener_(told);
  changed_.NotifyAll();
}

void GrantSession::End(SessionEnd end, Status status) {
  const MutexLock lock(mutex_);
  if (end_ != SessionEnd::kNone) return;
  end_ = end;
  status_ = std::move(status);
  Tell({});
}

void GrantSession::WaitForEnd(std::chrono::milliseconds timeout) const {
  const SteadyTime deadline = SteadyNow() + timeout;
  const MutexLock lock(mutex_);
  while (end_ == SessionEnd::kNone && changed_.WaitUntil(mutex_, deadline)) {
  }
}

void GrantSession::Settle() const {
  const SteadyTime deadline = SteadyNow() + context_.grace - std::chrono::seconds(2);
  while (end() == SessionEnd::kNone && SteadyNow() < deadline) WaitForEnd(kLook);
}

void GrantSession::SettleFailure() const { WaitForEnd(kLastWord); }

Result<int> GrantSession::ExitCode() const {
  switch (end()) {
    case SessionEnd::kFinished:
      return kExitSuccess;
    case SessionEnd::kReplaced:
      return kExitDisrupted;
    case SessionEnd::kFailed:
      return status();
    default:
      return kExitDrained;
  }
}

SessionEnd GrantSession::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

Status GrantSession::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

}  // namespace pstrain
