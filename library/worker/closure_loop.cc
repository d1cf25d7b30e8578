#include "library/worker/closure_loop.h"

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text/utf8.h"
#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/worker/push/push_progress.h"

namespace pstrain {
namespace {

/// Of the text of an error.
constexpr std::size_t kMostErrorBytes = 4 << 10;
/// Every work id of a program counts as one record.
constexpr std::uint32_t kRecords = 1;

void SetError(const Status& status, ProgramError* error) {
  error->set_code(static_cast<std::uint32_t>(status.code()));
  error->set_message(std::string(Utf8Prefix(status.message(), kMostErrorBytes)));
}

}  // namespace

/// What one attempt reads. It remembers when a shard does not serve it.
class ClosureLoop::Reads final : public ClosureReads {
 public:
  Reads(ClosureLoop& loop, const Grant& grant) : loop_(loop), grant_(grant) {}

  Result<StepValues> Read(const StepAccess& access) override {
    if (ending_ || !error_.ok()) return CancelledError("this attempt is given up");
    PSTRAIN_ASSIGN_OR_RETURN(const RoutedPlan plan, loop_.ps_.Route(access));
    PullOutcome pulled;
    const Result<Ending> ended = loop_.calls_.Pull(grant_, plan, &pulled);
    if (!ended.ok()) return error_ = ended.status();
    if (*ended == Ending::kDone) return std::move(pulled.values);
    ending_ = *ended;
    return CancelledError(*ended == Ending::kGivenUp ? "this worker ends"
                                                     : "a shard does not serve this attempt");
  }

  /// The attempt is over, whatever its function has returned.
  const std::optional<Ending>& ending() const { return ending_; }
  /// Of a ps that has refused a pull.
  const Status& error() const { return error_; }

 private:
  ClosureLoop& loop_;
  const Grant& grant_;
  std::optional<Ending> ending_;
  Status error_;
};

Status ClosureLoop::Run(std::uint32_t threads) {
  {
    std::vector<std::jthread> others;
    for (std::uint32_t i = 1; i < threads; ++i) others.emplace_back([this] { Work(); });
    Work();
  }
  const MutexLock lock(mutex_);
  return status_;
}

void ClosureLoop::Abandon(Status status) {
  {
    const MutexLock lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  abandoned_ = true;
  session_.GiveBackAll();  // also ends the wait for work
}

void ClosureLoop::Work() {
  while (!abandoned_) {
    const std::optional<Grant> grant = session_.NextGrant();
    if (!grant) return;
    const Result<Ending> ended = Do(*grant);
    if (!ended.ok() || *ended == Ending::kGivenUp) return Abandon(ended.status());
  }
}

Status ClosureLoop::TellOfVariables() {
  const std::shared_ptr<const RunDescription> run = session_.run();
  const MutexLock lock(mutex_);
  if (run == nullptr || (run_ != nullptr && run_->variables_size() >= run->variables_size())) {
    return OkStatus();
  }
  const std::vector<VariableSpec> variables(run->variables().begin(), run->variables().end());
  PSTRAIN_RETURN_IF_ERROR(ps_.Extend(variables));
  PSTRAIN_RETURN_IF_ERROR(runner_.Declared(variables));
  run_ = run;
  return OkStatus();
}

// What was voided runs only where a shard has what it changes: then it is as any other.
Result<ClosureLoop::Ending> ClosureLoop::Do(const Grant& grant) {
  PSTRAIN_RETURN_IF_ERROR(TellOfVariables());
  if (grant.kind() == kVoidWork) {
    PSTRAIN_ASSIGN_OR_RETURN(
        const Ending ended,
        Push(grant, ClosureOutcome::Failed(CancelledError("voided before it began"))));
    if (ended != Ending::kHasGradient) return ended;
  }
  Reads reads(*this, grant);
  ClosureOutcome outcome = runner_.Run(grant.payload(), reads);
  PSTRAIN_RETURN_IF_ERROR(reads.error());
  if (reads.ending()) return *reads.ending();
  if (const Status fits = Fits(outcome); !fits.ok()) outcome = ClosureOutcome::Failed(fits);
  PSTRAIN_ASSIGN_OR_RETURN(const Ending ended, Push(grant, outcome));
  return ended == Ending::kHasGradient ? FailedAfterItRan(grant, outcome.status) : ended;
}

Status ClosureLoop::Fits(const ClosureOutcome& outcome) const {
  PSTRAIN_RETURN_IF_ERROR(outcome.status);
  PSTRAIN_ASSIGN_OR_RETURN(const RoutedPlan plan, ps_.Route(outcome.access));
  PSTRAIN_RETURN_IF_ERROR(ps_.CheckUpdates(plan, outcome.updates));
  if (outcome.result.size() <= kMostResultBytes) return OkStatus();
  return ResourceExhaustedError("the function returns " + std::to_string(outcome.result.size()) +
                                " bytes, and a result has at most " +
                                std::to_string(kMostResultBytes) +
                                "; keep what is larger in a variable");
}

// All shards are asked, also those that have it by what the chief knows: they may have left it out,
// or may have what it changes when it is to be left out now, and all are to end the same way.
Result<ClosureLoop::Ending> ClosureLoop::Push(const Grant& grant, const ClosureOutcome& outcome) {
  PushedWork closure{FromWire(grant.work_id()), kRecords, 0};
  if (!outcome.status.ok()) closure.non_finite = kRecords;
  PSTRAIN_ASSIGN_OR_RETURN(const RoutedPlan plan, ps_.Route(outcome.access));
  PushProgress progress({});
  Report report;
  PSTRAIN_ASSIGN_OR_RETURN(const Ending ended,
                           calls_.Push(grant, closure, plan, outcome.updates, &progress, &report));
  if (ended == Ending::kDone) Finish(outcome, std::move(report));
  return ended;
}

void ClosureLoop::Finish(const ClosureOutcome& outcome, Report report) {
  {
    const MutexLock lock(mutex_);
    given_back_.Finished(FromWire(report.work_id()));
  }
  if (outcome.status.ok()) {
    report.set_result(outcome.result);
  } else {
    SetError(outcome.status, report.mutable_error());
  }
  session_.Complete(std::move(report));
  stats_.commits_reported->Add();
  stats_.steps->Add();
}

// An attempt that succeeded has come to some shards and was lost then: this one failed, and has
// changed nothing. The next one may succeed; if it does not either, the shards stay apart.
Result<ClosureLoop::Ending> ClosureLoop::FailedAfterItRan(const Grant& grant,
                                                          const Status& status) {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    first = given_back_.Add(FromWire(grant.work_id()));
  }
  if (first) {
    LogWarning("worker", "a closure that failed is given back: a shard has what it changes",
               {{"work", calls_.NameOf(grant)}, {"error", status}});
    session_.GiveBack(grant);
    return Ending::kGivenBack;
  }
  Status failed = OutOfRangeError(
      calls_.NameOf(grant) +
      ": some shards have what it changes, and run again its function fails: " + status.message());
  session_.Fail(failed.message());
  return failed;
}

}  // namespace pstrain
