// The part of ClosureQueue that is about calls of functions that change nothing
// (docs/design/read-only-functions.md).
#include <string>
#include <utility>

#include "library/coordinator/closure_queue.h"
#include "runtime/chief/grants/read_only_work.h"

namespace pstrain {
namespace {

std::function<bool(WorkId after)> MayBegin(CommitProtocol& protocol) {
  return [&protocol](WorkId after) { return protocol.CommittedBelow(after); };
}

}  // namespace

/// What the chief sees of the queue's calls without an id.
class ClosureQueue::ReadOnlyPort final : public ReadOnlyWork {
 public:
  explicit ReadOnlyPort(ClosureQueue& queue) : queue_(queue) {}

  std::vector<Grant> Grants(std::uint32_t worker, std::size_t want,
                            CommitProtocol& protocol) override {
    const MutexLock lock(queue_.mutex_);
    return queue_.read_only_.Grants(worker, want, MayBegin(protocol));
  }
  std::optional<WorkId> Reported(WorkId attempt, const Report& report,
                                 const CommitProtocol& protocol) override {
    return queue_.ReportedReadOnly(attempt, report, protocol);
  }
  void Returned(WorkId attempt) override {
    const MutexLock lock(queue_.mutex_);
    queue_.read_only_.Return(attempt);
  }
  void SetRegistered(std::uint32_t worker, bool registered) override {
    const MutexLock lock(queue_.mutex_);
    queue_.read_only_.SetRegistered(worker, registered);
  }
  std::uint64_t Open(CommitProtocol& protocol) const override {
    const MutexLock lock(queue_.mutex_);
    return queue_.read_only_.Open(MayBegin(protocol));
  }
  bool OpenFor(std::uint32_t worker, CommitProtocol& protocol) const override {
    const MutexLock lock(queue_.mutex_);
    return queue_.read_only_.OpenFor(worker, MayBegin(protocol));
  }
  bool Done() const override {
    const MutexLock lock(queue_.mutex_);
    return queue_.read_only_.size() == 0;
  }

 private:
  ClosureQueue& queue_;
};

std::shared_ptr<ReadOnlyWork> ClosureQueue::MakeReadOnlyPort() {
  return std::make_shared<ReadOnlyPort>(*this);
}

// Under the chief's lock, as all that is below.
ClosureQueue::Scheduled ClosureQueue::AddReadOnly(std::string payload, const CallOptions& options) {
  auto state = std::make_shared<ClosureState>();
  const MutexLock lock(mutex_);
  read_only_.Add({.state = state,
                  .payload = std::move(payload),
                  .after = source_->phase(),
                  .order = calls_++,
                  .told = told_,
                  .schedule = options.schedule,
                  .deadline = options.function.deadline,
                  .function = options.name});
  return {next_, std::move(state)};
}

void ClosureQueue::EndPhase() {
  source_->EndPhase();
  const MutexLock lock(mutex_);
  read_only_.EndPhase(next_);
  HoldIds();
}

void ClosureQueue::HoldIds() { source_->HoldFrom(read_only_.held_from()); }

std::size_t ClosureQueue::KeptBytes() const {
  const MutexLock lock(mutex_);
  return source_->kept_bytes() + read_only_.bytes();
}

// Rule 4, of work without an id. Invariant: a call is ended once, by an attempt that is with a
// worker as far as the chief knows, and that has read nothing of a shard that was early.
std::optional<WorkId> ClosureQueue::ReportedReadOnly(WorkId attempt, const Report& report,
                                                     const CommitProtocol& protocol) {
  const MutexLock lock(mutex_);
  const ReadOnlyCalls::Call* const call = read_only_.Find(attempt);
  if (call == nullptr) return std::nullopt;
  const bool stops = stops_.erase(attempt) > 0;
  if (report.early().count() > 0) {
    const WorkId after = call->after;
    read_only_.Return(attempt);
    return after;
  }
  if (stops && (report.missed() || ErrorOf(report).code() == StatusCode::kCancelled)) {
    read_only_.Take(attempt).state->Set(CancelledError("told to stop after an error"));
  } else if (report.missed()) {
    const Status missed = read_only_.Missed(attempt);
    if (missed.ok()) return std::nullopt;
    EndReadOnly(read_only_.Take(attempt), missed, protocol);
  } else if (report.has_error()) {
    EndReadOnly(read_only_.Take(attempt), ErrorOf(report), protocol);
  } else {
    EndReadOnly(read_only_.Take(attempt), report.result(), protocol);
  }
  HoldIds();
  Changed();
  return std::nullopt;
}

void ClosureQueue::EndReadOnly(ReadOnlyCalls::Call call, Result<std::string> outcome,
                               const CommitProtocol& protocol) {
  if (outcome.ok()) {
    if (listener_ != nullptr) listener_(call.order, *outcome, Settled());
    return call.state->Set(std::move(outcome));
  }
  const Status error = outcome.status();
  call.state->Set(error);
  CountFailure("call " + std::to_string(call.order), error, call.told == told_, protocol);
}

// FailFast, or beyond the Budget: those that no worker has, or has any more.
void ClosureQueue::VoidReadOnly(const std::vector<ReadOnlyCalls::Call>& calls) {
  for (const ReadOnlyCalls::Call& call : calls)
    call.state->Set(CancelledError("voided before it began"));
  if (calls.empty()) return;
  HoldIds();
  Changed();
}

}  // namespace pstrain
