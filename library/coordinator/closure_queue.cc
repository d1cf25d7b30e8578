#include "library/coordinator/closure_queue.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/log.h"
#include "base/seconds.h"
#include "runtime/chief/chief.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

/// The log says so often for whom Schedule waits.
constexpr std::chrono::seconds kWordAfter{60};

}  // namespace

ClosureQueue::ClosureQueue(const Limits& limits, Succeeded listener)
    : source_(std::make_shared<ClosureSource>(true,
                                              [this] {
                                                const MutexLock lock(mutex_);
                                                Changed();
                                              })),
      limits_(limits),
      listener_(std::move(listener)) {}

void ClosureQueue::Describe(ChiefJob::Work* work) {
  work->source = source_;
  work->input.batches_per_epoch = ClosureSource::kChunkSize;
  work->reported = [this](WorkId work_id, const Report& report, bool committed,
                          const CommitProtocol& protocol) {
    return Reported(work_id, report, committed, protocol);
  };
  work->prepared.keep = [this](WorkId work_id, const std::string& outcome,
                               const CommitProtocol& protocol) {
    return Prepared(work_id, outcome, protocol);
  };
  work->read_only = MakeReadOnlyPort();
  work->prepared.find = [this](WorkId work_id) { return PreparedOf(work_id); };
  work->stops.missed = [this](WorkId work_id, std::uint32_t worker,
                              const CommitProtocol& protocol) {
    return Missed(work_id, worker, protocol);
  };
  work->stops.tell = [this](const std::set<WorkId>& in_flight, ProtocolTime now,
                            const CommitProtocol& protocol) {
    return TellStops(in_flight, now, protocol);
  };
  work->stops.name_of = [this](WorkId work_id) { return NameOf(work_id); };
  work->returned = [this](const ProgramMark& mark) { Returned(mark); };
}

// The chief is destroyed after Serving(nullptr). Invariant: who counts in users_ has a chief that
// lives, though mutex_ is not held while the chief is used: its own lock is taken first, and it
// calls Committed under that.
void ClosureQueue::Serving(Chief* chief) {
  const MutexLock lock(mutex_);
  chief_ = chief;
  changed_.NotifyAll();
  while (chief == nullptr && users_ > 0) changed_.Wait(mutex_);
}

void ClosureQueue::Ended(const Status& why) {
  const MutexLock lock(mutex_);
  if (ended_) return;
  ended_ = why;
  for (auto& [id, pending] : pending_) pending.state->Set(why);
  pending_.clear();
  for (const ReadOnlyCalls::Call& call : read_only_.TakeAll()) call.state->Set(why);
  changed_.NotifyAll();
}

Status ClosureQueue::WaitUntilServing(SteadyTime deadline) {
  const MutexLock lock(mutex_);
  while (chief_ == nullptr && !ended_) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  if (ended_) return *ended_;
  return chief_ != nullptr ? OkStatus() : DeadlineExceededError("the chief does not serve yet");
}

Status ClosureQueue::WithChief(const std::function<Status(Chief& chief)>& use) {
  Chief* chief = nullptr;
  {
    const MutexLock lock(mutex_);
    if (ended_) return *ended_;
    if (chief_ == nullptr) return UnavailableError("the chief does not serve");
    chief = chief_;
    ++users_;
  }
  const Status status = use(*chief);
  const MutexLock lock(mutex_);
  --users_;
  changed_.NotifyAll();
  return status;
}

Status ClosureQueue::MayTakeAnId() {
  PSTRAIN_RETURN_IF_ERROR(CheckOrder());
  if (!thread_) thread_ = std::this_thread::get_id();
  return Deliver();
}

Result<ClosureQueue::Scheduled> ClosureQueue::Schedule(std::string payload,
                                                       const CallOptions& options) {
  if (payload.size() > limits_.payload) {
    return ResourceExhaustedError("the arguments have " + std::to_string(payload.size()) +
                                  " bytes, and at most " + std::to_string(limits_.payload) +
                                  " travel with a call; keep them in a variable");
  }
  const SteadyTime since = SteadyNow();
  SteadyTime said = since;
  for (;;) {
    std::uint64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      PSTRAIN_RETURN_IF_ERROR(MayTakeAnId());
      seen = changes_;
    }
    std::optional<Scheduled> scheduled;
    PSTRAIN_RETURN_IF_ERROR(WithChief([&](Chief& chief) {
      chief.ChangeWork([&](const CommitProtocol& protocol) {
        const std::size_t kept = KeptBytes();
        if (kept > 0 && kept + payload.size() > limits_.kept) return;
        ShrinkPrepared(kept + payload.size(), protocol);
        scheduled = options.function.writes ? Add(std::move(payload), options)
                                            : AddReadOnly(std::move(payload), options);
      });
      return OkStatus();
    }));
    if (scheduled) return *std::move(scheduled);
    PSTRAIN_RETURN_IF_ERROR(AwaitRoom(seen, since, &said));
  }
}

// Rule 7. What is scheduled has to be kept, and checkpoints make room when calls have ended.
// Invariant: it returns while calls end, however slowly they do, so that Schedule fails only where
// nothing happens any more.
Status ClosureQueue::AwaitRoom(std::uint64_t seen, SteadyTime since, SteadyTime* said) {
  const SteadyTime deadline = SteadyNow() + limits_.patience;
  const MutexLock lock(mutex_);
  while (changes_ == seen && !ended_) {
    const SteadyTime next = *said + kWordAfter;
    if (changed_.WaitUntil(mutex_, std::min(deadline, next))) continue;
    const std::string calls = std::to_string(pending_.size());
    if (SteadyNow() >= deadline) {
      return ResourceExhaustedError(
          "there is no room for another call: " + calls + " have not ended, those that have and " +
          "their arguments are kept until two checkpoints have them, in at most " +
          std::to_string(limits_.kept) + " bytes, and none has ended and no checkpoint was taken " +
          "since " + WholeSeconds(limits_.patience) +
          "; see whether workers run and checkpoints "
          "succeed");
    }
    if (SteadyNow() < next) continue;
    *said = SteadyNow();
    LogWarning("coordinator", "Schedule waits for room: for calls to end, and for checkpoints",
               {{"seconds", InSeconds(*said - since)}, {"calls_not_ended", calls}});
  }
  return OkStatus();
}

// Under the chief's lock, so that nobody reports it before it is here.
ClosureQueue::Scheduled ClosureQueue::Add(std::string payload, const CallOptions& options) {
  const bool own = options.place == CallOptions::Place::kOwnPhase;
  if (own) EndPhase();
  WorkPreference preference{.priority = options.schedule.priority};
  if (options.schedule.worker)
    preference.worker = static_cast<std::uint32_t>(*options.schedule.worker);
  const std::chrono::milliseconds deadline =
      options.function.deadline.value_or(std::chrono::milliseconds(0));
  const Id id =
      source_->Number(source_->Add(1, {kClosureWork, std::move(payload), deadline}, preference));
  auto state = std::make_shared<ClosureState>();
  {
    const MutexLock lock(mutex_);
    pending_[id] = {.state = state,
                    .order = calls_++,
                    .may_be_voided = !own,
                    .name = options.name,
                    .deadline = deadline};
    next_ = id + 1;
  }
  if (own) EndPhase();
  return {id, std::move(state)};
}

// Rule 4, for the program: the report after which no shard lacks the work id decides. Invariant: a
// closure is settled once. When a lost ps makes its work id run and be committed again (rule 7),
// what the program was told stays; so nobody runs again what has failed, as it might succeed, and
// what has succeeded is no error when it fails then. What the first attempt that was reported has
// returned counts: its changes are those that shards have, though a shard may have moved while it
// was reported, so that a later attempt commits it. But shards never have changes of a closure of
// which the last report says that it failed, nor the reverse, unless it was given up
// (failed-closures.md): that decides which of the two.
ChiefJob::Heard ClosureQueue::Reported(WorkId work_id, const Report& report, bool committed,
                                       const CommitProtocol& protocol) {
  const Id id = source_->Number(work_id);
  const MutexLock lock(mutex_);
  const auto found = pending_.find(id);
  if (!committed) {
    // Without a shard: what it has read was not there yet, or its function has failed.
    const bool came_to_a_shard = report.shards().count() > 0;
    if (!came_to_a_shard) return AttemptFailed(id, report);
    if (found != pending_.end() && !report.has_error() && !found->second.result)
      found->second.result = report.result();
    return {};
  }
  if (found == pending_.end()) return CommittedAgain(id, report);
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  ChiefJob::Heard heard;
  if (!report.has_error()) {
    static_cast<void>(repairs_.Ended(id));
    source_->Repair(work_id);
    Succeed(pending, pending.result.value_or(report.result()));
  } else if (!report.result().empty()) {
    heard = EndGivenUp(id, report, pending, protocol);
  } else {
    static_cast<void>(repairs_.Ended(id));
    source_->Void(work_id);
    Fail(id, ErrorOf(report), pending, protocol);
  }
  missed_.Ended(id);
  stops_.erase(work_id);
  Changed();
  return heard;
}

void ClosureQueue::Succeed(const Pending& pending, const std::string& result) {
  ++succeeded_;
  if (listener_ != nullptr) listener_(pending.order, result, Settled());
  pending.state->Set(result);
}

// Invariant: calls are in the order of their ids, those that have one.
std::uint64_t ClosureQueue::Settled() const {
  const std::uint64_t first = pending_.empty() ? calls_ : pending_.begin()->second.order;
  return std::min({first, read_only_.first(), calls_});
}

void ClosureQueue::Fail(Id id, const Status& error, const Pending& pending,
                        const CommitProtocol& protocol) {
  pending.state->Set(error);
  const bool stops = stops_.contains(ClosureSource::IdOf(id));
  if (pending.voided || (stops && error.code() == StatusCode::kCancelled)) return;
  CountFailure("closure " + std::to_string(id), error, id >= delivered_below_, protocol);
}

void ClosureQueue::CountFailure(const std::string& what, const Status& error, bool counts,
                                const CommitProtocol& protocol) {
  ++failed_;
  LogWarning("coordinator", "a function has failed",
             {{"work", what}, {"failed", failed_}, {"error", error}});
  if (WithinBudget()) return;
  if (counts) {
    if (failure_) {
      ++failure_->others;
    } else {
      failure_ = FirstFailure{error};
    }
  }
  VoidTheRest(protocol);
}

bool ClosureQueue::WithinBudget() const {
  const auto* budget = options_ ? std::get_if<Budget>(&options_->errors) : nullptr;
  return budget != nullptr && failed_ <= budget->calls;
}

// FailFast, or beyond the Budget. What a shard may have, and assigns, are never voided.
void ClosureQueue::VoidTheRest(const CommitProtocol& protocol) {
  for (auto& [id, pending] : pending_) {
    if (!pending.may_be_voided || pending.voided || MayBeOnAShard(id, pending)) continue;
    const WorkId work_id = ClosureSource::IdOf(id);
    if (protocol.Begun(work_id)) {
      stops_.try_emplace(work_id);
      continue;
    }
    source_->Void(work_id);
    pending.voided = true;
  }
  VoidReadOnly(read_only_.TakeOpen());
  for (const WorkId attempt : read_only_.StopRunning()) stops_.try_emplace(attempt);
}

Status ClosureQueue::Deliver() {
  if (ended_) return *ended_;
  if (!failure_) return OkStatus();
  const FirstFailure failure = *std::exchange(failure_, std::nullopt);
  delivered_below_ = next_;
  ++told_;
  std::string counts;
  if (failure.others > 0) counts = std::to_string(failure.others) + " others failed too";
  if (const auto* budget = options_ ? std::get_if<Budget>(&options_->errors) : nullptr) {
    counts += (counts.empty() ? "" : "; ") + std::to_string(failed_) +
              " calls have failed so far, and the budget is " + std::to_string(budget->calls);
  }
  if (counts.empty()) return failure.first;
  return {failure.first.code(), failure.first.message() + " (" + counts + ")"};
}

Status ClosureQueue::Join(SteadyTime deadline) {
  PSTRAIN_RETURN_IF_ERROR(WithChief([this](Chief& chief) {
    chief.ChangeWork([this](const CommitProtocol&) { EndPhase(); });
    return OkStatus();
  }));
  const MutexLock lock(mutex_);
  while (Waiting() > 0 && !ended_) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  if (Waiting() > 0 && !ended_) {
    return DeadlineExceededError(std::to_string(Waiting()) + " calls have not ended yet");
  }
  return Deliver();
}

Result<bool> ClosureQueue::Done() {
  const MutexLock lock(mutex_);
  if (Waiting() > 0 && !ended_) return false;
  PSTRAIN_RETURN_IF_ERROR(Deliver());
  return true;
}

Status ClosureQueue::Close() {
  PSTRAIN_RETURN_IF_ERROR(WithChief([this](Chief& chief) {
    chief.ChangeWork([this](const CommitProtocol&) { source_->Close(); });
    return OkStatus();
  }));
  const MutexLock lock(mutex_);
  closed_ = true;
  return OkStatus();
}

std::uint64_t ClosureQueue::succeeded() const {
  const MutexLock lock(mutex_);
  return succeeded_;
}

std::uint64_t ClosureQueue::failed() const {
  const MutexLock lock(mutex_);
  return failed_;
}

std::uint64_t ClosureQueue::lost() const {
  const MutexLock lock(mutex_);
  return repairs_.lost();
}

std::uint64_t ClosureQueue::calls() const {
  const MutexLock lock(mutex_);
  return calls_;
}

ClosureQueue::Id ClosureQueue::next() const {
  const MutexLock lock(mutex_);
  return next_;
}

}  // namespace pstrain
