// The part of ClosureQueue that hears of calls that fail when some shards have what they change,
// and that says which errors are whose.
#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "base/log.h"
#include "library/coordinator/closure_queue.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

/// For a person.
std::string TextOf(const CoordinatorOptions& options) {
  const auto* const budget = std::get_if<Budget>(&options.errors);
  return (budget != nullptr ? "Budget{" + std::to_string(budget->calls) + "}" : "FailFast{}") +
         " and cancel_timeout = " + std::to_string(options.cancel_timeout.count()) + " ms";
}

std::string NumberOf(ClosureQueue::Id id) { return "closure " + std::to_string(id); }

Status With(const Status& error, const std::string& sentence) {
  return {error.code(), error.message() + " (" + sentence + ")"};
}

}  // namespace

Status ClosureQueue::SetOptions(const CoordinatorOptions& options) {
  if (options.cancel_timeout <= std::chrono::milliseconds(0)) {
    return InvalidArgumentError("CoordinatorOptions.cancel_timeout is " +
                                std::to_string(options.cancel_timeout.count()) +
                                " ms, and has to be positive");
  }
  const MutexLock lock(mutex_);
  if (!options_) options_ = options;
  if (*options_ == options) return OkStatus();
  return FailedPreconditionError(
      "the strategy has a coordinator with CoordinatorOptions.errors = " + TextOf(*options_) +
      ", and is asked for one with " + TextOf(options) +
      "; of one strategy there is one coordinator, so give the same options");
}

void ClosureQueue::SetReturnWhenRepairFails(bool returns) {
  const MutexLock lock(mutex_);
  return_when_repair_fails_ = returns;
}

// Peers say the code: one that is none is an error all the same.
Status ClosureQueue::ErrorOf(const Report& report) {
  constexpr auto kLast = static_cast<std::uint32_t>(StatusCode::kUnauthenticated);
  const std::uint32_t code = report.error().code();
  return {code == 0 || code > kLast ? StatusCode::kUnknown : static_cast<StatusCode>(code),
          report.error().message()};
}

// Rules 4 and 7. The attempt has reached no shard, while others have: of what was committed before,
// or of an attempt whose worker was lost in the middle of its push. Invariant: after the last of
// kMostAttempts nobody runs it any more, so that the id is committed however its function goes on.
ChiefJob::Heard ClosureQueue::AttemptFailed(Id id, const Report& report) {
  const WorkId work_id = ClosureSource::IdOf(id);
  const std::uint32_t kind = source_->KindOf(work_id);
  if (!report.has_error() || report.early().count() > 0 || kind == kLostWork) return {};
  return RepairFailed(id, kind, ErrorOf(report));
}

ChiefJob::Heard ClosureQueue::RepairFailed(Id id, std::uint32_t kind, const Status& error) {
  const WorkId work_id = ClosureSource::IdOf(id);
  if (!repairs_.Failed(id, kind == kVoidWork, error)) return {};
  const std::string what = NumberOf(id) + " has failed " + std::to_string(Repairs::kMostAttempts) +
                           " times as it ran for shards that lack what others have of it";
  if (return_when_repair_fails_) return {.return_to_mark = what + ": " + error.ToString()};
  LogWarning("coordinator", "a call is given up: shards go without its update",
             {{"work", NumberOf(id)}, {"attempts", Repairs::kMostAttempts}, {"error", error}});
  source_->Lose(work_id);
  return {};
}

// The program has not been told anything of it yet.
ChiefJob::Heard ClosureQueue::EndGivenUp(Id id, const Report& report, const Pending& pending,
                                         const CommitProtocol& protocol) {
  const WorkId work_id = ClosureSource::IdOf(id);
  Status error = repairs_.Ended(id);
  if (error.ok()) error = missed_.ErrorOf(id, pending.name, pending.deadline);
  if (error.ok()) error = ErrorOf(report);
  if (report.result() == kNoShardHasIt) {
    source_->Void(work_id);
    Fail(id, error, pending, protocol);
    return {};
  }
  if (report.result() == kAllShardsHaveIt) {
    source_->Repair(work_id);
    if (pending.result) {
      Succeed(pending, *pending.result);
    } else {
      Fail(id,
           With(error,
                "an attempt before has changed what it changes on all shards, and what that has "
                "returned is not known"),
           pending, protocol);
    }
    return {};
  }
  Fail(id, With(error, "some shards have what an attempt before has changed, the others do not"),
       pending, protocol);
  ChiefJob::Heard heard = Lose(id);
  // Whether any shard has it nobody knew when its function had missed its deadline too often.
  if (return_when_repair_fails_) heard.return_to_mark = NumberOf(id) + ": " + error.ToString();
  return heard;
}

ChiefJob::Heard ClosureQueue::CommittedAgain(Id id, const Report& report) {
  static_cast<void>(repairs_.Ended(id));
  if (!report.has_error() || report.result().empty()) return {};
  const WorkId work_id = ClosureSource::IdOf(id);
  if (report.result() == kAllShardsHaveIt) {
    source_->Repair(work_id);
    return {};
  }
  if (report.result() == kNoShardHasIt && repairs_.Unwanted(id)) {
    source_->Void(work_id);
    return {};
  }
  return Lose(id);
}

ChiefJob::Heard ClosureQueue::Lose(Id id) {
  if (!repairs_.Lose(id)) return {};
  LogWarning("coordinator", "an update is lost in repair",
             {{"work", NumberOf(id)}, {"updates_lost_in_repair", repairs_.lost()}});
  return {.update_lost = true};
}

}  // namespace pstrain
