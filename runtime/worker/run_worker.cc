#include "runtime/worker/run_worker.h"

#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "proto/contract/exit_codes.h"
#include "runtime/cluster/permanent_failure.h"
#include "runtime/cluster/try_again.h"
#include "runtime/rpc/in_process/local_network.h"
#include "runtime/worker/finite_check.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/ps_problems.h"
#include "runtime/worker/step_loop.h"
#include "runtime/worker/work_prefetcher.h"

namespace pstrain {
namespace {

/// Where a test aims between two ps, pushes must have an order.
PsClientOptions ClientOptions(const RoleContext& context) {
  PsClientOptions options;
  const FailPoints& points = context.fail_points;
  if (points.Named(FailPoint::kWorkerBetweenPs) || points.Named(FailPoint::kPsBeforeApply)) {
    options.between_pushes = [&points] { points.Pass(FailPoint::kWorkerBetweenPs); };
  }
  return options;
}

/// What the worker returns once its loop has ended with `status`; `step_error`: of the prefetcher.
Result<int> OutcomeOf(const RoleContext& context, const GrantSession& session, const Status& status,
                      const Status& step_error) {
  // Told to stop, a worker waits for no disk: what it has not read was given back.
  const bool given_up = context.stop.stop_requested() && TryAgain::ReadMayPass(status);
  if (!status.ok() && !given_up) {
    session.SettleFailure();
    // The same codes mean other things where they come from a ps.
    if (status == step_error) return EndOfInput(context, status);
    return status;
  }
  session.Settle();
  return session.ExitCode();
}

}  // namespace

Result<int> RunWorker(const RoleContext& context, const WorkerJob& job) {
  const RealClock clock;
  PsProblems problems(clock);
  GrantSession session(context, problems);
  Result<RunDescription> run = session.Start();
  if (!run.ok()) {
    if (run.status().code() == StatusCode::kCancelled) return session.ExitCode();
    return run.status();
  }
  Result<std::unique_ptr<WorkerStep>> step =
      job.create_step(context, [&context, &session](std::chrono::nanoseconds pause) {
        session.WaitForEnd(std::chrono::ceil<std::chrono::milliseconds>(pause));
        return session.end() == SessionEnd::kNone && !context.stop.stop_requested();
      });
  if (!step.ok() && context.stop.stop_requested()) return kExitDrained;
  if (!step.ok()) return EndOfInput(context, step.status());
  WorkerStats stats(context.stats);
  RoleTransport transport(context);
  PsClientOptions options = ClientOptions(context);
  options.pull_duration = stats.pull_duration;
  options.push_duration = stats.push_duration;
  options.problems = &problems;
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<PsClient> ps,
                           PsClient::Create({run->variables().begin(), run->variables().end()},
                                            run->shards(), *transport, std::move(options)));
  FiniteCheck check({run->variables().begin(), run->variables().end()}, run->shards());
  LogInfo("worker", "training", {{"index", context.index}, {"run", run->run_id()}});
  std::stop_callback leave(context.stop, [&] { session.Leave(); });
  const auto declared = [&](const RunDescription& now) -> Status {
    const std::vector<VariableSpec> variables(now.variables().begin(), now.variables().end());
    PSTRAIN_RETURN_IF_ERROR(ps->Extend(variables));
    check.Extend(variables);
    return (*step)->Declared(variables);
  };
  WorkPrefetcher work(session, **step, *ps, declared, stats.input_seconds, context.end);
  StepLoop loop(context, session, work, *ps, **step, check, stats, job.leave_out_non_finite);
  const Status status = loop.Run();
  session.GiveBackAll();  // also what was read ahead
  Result<int> outcome = OutcomeOf(context, session, status, work.step_error());
  // The prefetcher's thread may wait for a disk that hangs.
  context.Decided(outcome);
  return outcome;
}

}  // namespace pstrain
