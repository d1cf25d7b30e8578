#include "library/worker/closure_loop.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text/utf8.h"
#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

/// Of the text of an error.
constexpr std::size_t kMostErrorBytes = 4 << 10;

}  // namespace

void ClosureLoop::SetError(const Status& status, ProgramError* error) {
  error->set_code(static_cast<std::uint32_t>(status.code()));
  error->set_message(std::string(Utf8Prefix(status.message(), kMostErrorBytes)));
}

/// What one attempt reads. When a shard does not serve it, the attempt is over.
class ClosureLoop::Reads final : public ClosureReads {
 public:
  Reads(ClosureLoop& loop, const Grant& grant, const Place& place)
      : loop_(loop), grant_(grant), place_(place), stop_(place.running.StopToken(place.slot)) {}

  // Between BeginRead and EndRead the loop is there.
  Result<StepValues> Read(const StepAccess& access) override {
    const Status given_up = CancelledError("this attempt is given up");
    if (!place_.running.BeginRead(place_.slot)) return given_up;
    Result<StepValues> values = ReadNow(access);
    if (place_.running.EndRead(place_.slot) || !values.ok()) return values;
    return given_up;
  }
  std::stop_token StopToken() const override { return stop_; }

 private:
  // Invariant: of an attempt that was given back the chief hears once.
  Result<StepValues> ReadNow(const StepAccess& access) {
    if (!loop_.order_.WaitForThoseBefore(place_.number, loop_.threads_ - 1)) {
      return End(Ending::kGivenUp);
    }
    PSTRAIN_ASSIGN_OR_RETURN(const RoutedPlan plan, loop_.ps_.Route(access));
    PullOutcome pulled;
    const Result<Ending> ended = loop_.calls_.Pull(grant_, plan, &pulled);
    if (ended.ok() && *ended == Ending::kDone) return std::move(pulled.values);
    return End(ended);
  }
  Status End(const Result<Ending>& ended) {
    if (place_.running.GiveBack(place_.slot)) loop_.EndEarly(place_.number, ended);
    if (!ended.ok()) return ended.status();
    return CancelledError(*ended == Ending::kGivenUp ? "this worker ends"
                                                     : "a shard does not serve this attempt");
  }

  ClosureLoop& loop_;
  const Grant& grant_;
  const Place place_;
  const std::stop_token stop_;
};

ClosureLoop::ClosureLoop(const RoleContext& context, GrantSession& session, PsClient& ps,
                         std::shared_ptr<ClosureRunner> runner, WorkerStats& stats,
                         WhenAllHang when_all_hang)
    : session_(session),
      ps_(ps),
      runner_(std::move(runner)),
      stats_(stats),
      when_all_hang_(when_all_hang),
      leaves_within_(context.grace / 2),
      calls_(context, session, ps, stats, abandoned_) {}

// The pushes end before this returns: their thread uses the loop.
Status ClosureLoop::Run(std::uint32_t threads, std::uint32_t window) {
  threads_ = threads;
  ClosurePace pace(std::min(2 * threads, window), window);
  {
    ClosurePushes pushes(
        calls_,
        [this, &pace](std::vector<Report> reports, const std::vector<std::uint64_t>& places) {
          const std::size_t done = reports.size();
          if (done > 0) Finish(std::move(reports));
          order_.End(places);
          session_.SetWindow(pace.Ended(done, SteadyNow()));
        },
        [this](Status status) { Abandon(std::move(status)); });
    std::optional<AtomicCalls> atomic;
    atomic.emplace(
        session_,
        [this](ClosurePushes::Closure call, const std::optional<std::string>& instead) {
          Decided(std::move(call), instead);
        },
        [this] { Abandon(OkStatus()); });
    {
      const MutexLock lock(mutex_);
      pushes_ = &pushes;
      atomic_ = &*atomic;
    }
    RunSlots();
    atomic.reset();
    const MutexLock lock(mutex_);
    pushes_ = nullptr;
    atomic_ = nullptr;
  }
  const MutexLock lock(mutex_);
  return status_;
}

std::size_t ClosureLoop::pushes_in_flight() const {
  const MutexLock lock(mutex_);
  return waited_for_ + (pushes_ == nullptr ? 0 : pushes_->in_flight());
}

void ClosureLoop::Abandon(Status status) {
  {
    const MutexLock lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  abandoned_ = true;
  order_.GiveUp();
  session_.GiveBackAll();  // also ends the wait for work
  Leave();
}

Status ClosureLoop::TellOfVariables() {
  const std::shared_ptr<const RunDescription> run = session_.run();
  const MutexLock lock(mutex_);
  if (run == nullptr || (run_ != nullptr && run_->variables_size() >= run->variables_size())) {
    return OkStatus();
  }
  const std::vector<VariableSpec> variables(run->variables().begin(), run->variables().end());
  PSTRAIN_RETURN_IF_ERROR(ps_.Extend(variables));
  PSTRAIN_RETURN_IF_ERROR(runner_->Declared(variables));
  run_ = run;
  return OkStatus();
}

// What was voided runs only where a shard has what it changes: then it is as any other. What was
// given up does not run at all.
std::optional<Result<ClosureLoop::Ending>> ClosureLoop::Do(const Grant& grant, const Place& place) {
  if (Status status = TellOfVariables(); !status.ok()) return status;
  if (grant.kind() == kLostWork) return LeaveOutWhereItIsLacking(grant);
  if (grant.kind() == kVoidWork) {
    Result<Ending> ended = LeaveOut(grant, CancelledError("voided before it began"));
    if (!ended.ok() || *ended != Ending::kHasGradient) return ended;
  }
  return RunIt(grant, place);
}

// Invariant: an attempt that Returned does not let count is sent nowhere. After that word the loop
// may have gone.
std::optional<Result<ClosureLoop::Ending>> ClosureLoop::RunIt(const Grant& grant,
                                                              const Place& place) {
  if (!grant.prepared().empty()) return PushPrepared(grant, grant.prepared(), place.number);
  place.running.Begin(place.slot, grant, place.number);
  Reads reads(*this, grant, place);
  ClosureOutcome outcome = runner_->Run(grant.payload(), reads);
  const RunningCalls::Outcome returned = place.running.Returned(place.slot);
  if (returned != RunningCalls::Outcome::kCounts) return std::nullopt;
  if (grant.kind() == kReadOnlyWork) {
    const Ending ended = ReportReadOnly(grant, std::move(outcome));
    return ended;
  }
  return End(grant, place.number, std::move(outcome));
}

// Another attempt may begin here while its function runs on.
void ClosureLoop::EndEarly(std::uint64_t place, const Result<Ending>& ended) {
  order_.End(std::array{place});
  if (!ended.ok() || *ended == Ending::kGivenUp) Abandon(ended.status());
}

// Large ones are pushed here, beside each other and beside the small ones.
std::optional<Result<ClosureLoop::Ending>> ClosureLoop::End(const Grant& grant, std::uint64_t place,
                                                            ClosureOutcome outcome) {
  Result<RoutedPlan> plan = PlanOf(outcome);
  if (plan.ok() && outcome.atomic) {
    Result<std::string> prepared = PreparedOf(outcome);
    if (prepared.ok()) {
      atomic().Add({grant, std::move(outcome), *std::move(plan), place}, *std::move(prepared));
      return std::nullopt;
    }
    plan = prepared.status();
  }
  if (plan.ok() && BytesOf(outcome.updates) <= PsClient::kMessageBytes) {
    pushes().Add({grant, std::move(outcome), *std::move(plan), place});
    return std::nullopt;
  }
  if (plan.ok()) return Push(grant, outcome, *plan);
  // The others have what it changes.
  if (grant.kind() == kRepairWork) return GiveBackFailed(grant, plan.status());
  Result<Ending> ended = LeaveOut(grant, plan.status());
  if (!ended.ok() || *ended != Ending::kHasGradient) return ended;
  return GiveBackFailed(grant, plan.status());
}

Result<RoutedPlan> ClosureLoop::PlanOf(const ClosureOutcome& outcome) const {
  PSTRAIN_RETURN_IF_ERROR(outcome.status);
  PSTRAIN_ASSIGN_OR_RETURN(RoutedPlan plan, ps_.Route(outcome.access));
  PSTRAIN_RETURN_IF_ERROR(ps_.CheckUpdates(plan, outcome.updates));
  if (outcome.result.size() <= kMostResultBytes) return plan;
  return ResourceExhaustedError(
      (outcome.function.empty() ? "the function" : outcome.function) + " returns " +
      std::to_string(outcome.result.size()) + " bytes, and a result has at most " +
      std::to_string(kMostResultBytes) + "; keep what is larger in a variable");
}

// All shards are asked, also those that have it by what the chief knows: they may have left it out,
// or may have what it changes when it is to be left out now, and all are to end the same way.
Result<ClosureLoop::Ending> ClosureLoop::Push(const Grant& grant, const ClosureOutcome& outcome,
                                              const RoutedPlan& plan) {
  PushedWork closure{FromWire(grant.work_id()), kRecordsOfClosure, 0};
  if (!outcome.status.ok()) closure.non_finite = kRecordsOfClosure;
  PushProgress progress({});
  std::vector<Report> reports(1);
  if (outcome.status.ok()) {
    reports.front().set_result(outcome.result);
  } else {
    SetError(outcome.status, reports.front().mutable_error());
  }
  Result<Ending> ended =
      PushToAll(grant, closure, plan, outcome.updates, &progress, &reports.front());
  if (!ended.ok() || *ended != Ending::kDone) return ended;
  Finish(std::move(reports));
  return ended;
}

Result<ClosureLoop::Ending> ClosureLoop::PushToAll(const Grant& grant, const PushedWork& closure,
                                                   const RoutedPlan& plan,
                                                   const StepUpdates& updates,
                                                   PushProgress* progress, Report* report) {
  {
    const MutexLock lock(mutex_);
    ++waited_for_;
  }
  Result<Ending> ended = calls_.Push(grant, closure, plan, updates, progress, report);
  const MutexLock lock(mutex_);
  --waited_for_;
  return ended;
}

Result<ClosureLoop::Ending> ClosureLoop::LeaveOut(const Grant& grant, const Status& why) {
  PSTRAIN_ASSIGN_OR_RETURN(const RoutedPlan nothing, ps_.Route({}));
  return Push(grant, ClosureOutcome::Failed(why), nothing);
}

// What each shard answers says what it has. With a shard that is early it is given back, as an
// error whatever it has come to.
Result<ClosureLoop::Ending> ClosureLoop::LeaveOutWhereItIsLacking(const Grant& grant) {
  PSTRAIN_ASSIGN_OR_RETURN(const RoutedPlan nothing, ps_.Route({}));
  const PushedWork closure{FromWire(grant.work_id()), kRecordsOfClosure, 0, kRecordsOfClosure};
  PushProgress progress({}, PushProgress::Gradients::kKept);
  std::vector<Report> reports(1);
  Report& report = reports.front();
  SetError(CancelledError("left out where a shard lacks it"), report.mutable_error());
  Result<Ending> ended = PushToAll(grant, closure, nothing, {}, &progress, &report);
  if (!ended.ok() || *ended != Ending::kDone) return ended;
  const std::size_t kept = progress.kept();
  report.set_result(std::string(kept == 0                       ? kNoShardHasIt
                                : kept < progress.have().size() ? kSomeShardsHaveIt
                                                                : kAllShardsHaveIt));
  Finish(std::move(reports));
  return ended;
}

// Of whoever succeeds later all shards get what it changes, also those that were told now to leave
// it out.
ClosureLoop::Ending ClosureLoop::GiveBackFailed(const Grant& grant, const Status& why) {
  Report report;
  SetError(why, report.mutable_error());
  calls_.GiveBackFailed(grant, std::move(report));
  return Ending::kGivenBack;
}

void ClosureLoop::Finish(std::vector<Report> reports) {
  stats_.commits_reported->Add(reports.size());
  stats_.steps->Add(reports.size());
  session_.Complete(std::move(reports));
}

}  // namespace pstrain
