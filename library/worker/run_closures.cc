#include "library/worker/run_closures.h"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "library/worker/closure_loop.h"
#include "proto/contract/exit_codes.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/cluster/limits.h"
#include "runtime/rpc/in_process/local_network.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/ps_problems.h"

namespace pstrain {

Result<int> RunClosures(const RoleContext& context, const ClosureJob& job) {
  const RealClock clock;
  PsProblems problems(clock);
  GrantSession session(context, problems,
                       {.kind = GrantSession::Kind::kClosures,
                        .window = std::min(kMostInFlight, 2 * std::max(1U, job.closures)),
                        .starts_over = job.starts_over});
  const Result<RunDescription> run = session.Start();
  if (!run.ok() && run.status().code() == StatusCode::kCancelled) return session.ExitCode();
  PSTRAIN_RETURN_IF_ERROR(run.status());
  WorkerStats stats(context.stats);
  RuntimeStats common(context.stats);
  RoleTransport transport(context);
  PsClientOptions options;
  options.pull_duration = stats.pull_duration;
  options.push_duration = stats.push_duration;
  options.problems = &problems;
  // Where a test aims between two ps, pushes must have an order.
  const FailPoints& points = context.fail_points;
  if (points.Named(FailPoint::kWorkerBetweenPs)) {
    options.between_pushes = [&points] { points.Pass(FailPoint::kWorkerBetweenPs); };
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<PsClient> ps,
                           PsClient::Create({run->variables().begin(), run->variables().end()},
                                            run->shards(), *transport, std::move(options)));
  std::shared_ptr<ClosureRunner> runner = job.create_runner();
  LogInfo("worker", "running closures", {{"index", context.index}, {"run", run->run_id()}});
  ClosureLoop loop(
      context, session, *ps, std::move(runner), stats,
      job.ends_when_all_hang ? ClosureLoop::WhenAllHang::kEnd : ClosureLoop::WhenAllHang::kGoOn);
  const std::stop_callback leave(context.stop, [&session, &loop] {
    session.Leave();
    loop.Leave();
  });
  common.ready->Set(1);
  const Status status = loop.Run(job.closures, kMostInFlight);
  session.GiveBackAll();
  if (status.ok() && loop.all_hang()) {
    session.SettleFailure();
    // Where the end of the process waits for what hangs, that ends it all the same.
    context.Decided(kExitDisrupted);
    return kExitDisrupted;
  }
  if (!status.ok()) {
    session.SettleFailure();
    return status;
  }
  session.Settle();
  return session.ExitCode();
}

}  // namespace pstrain
