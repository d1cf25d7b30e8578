#include "library/worker/run_closures.h"

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "library/worker/closure_loop.h"
#include "proto/contract/exit_codes.h"
#include "runtime/rpc/in_process/local_network.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/ps_problems.h"

namespace pstrain {
namespace {

/// How long a worker that fails waits for the chief to hear why and what it gives back.
constexpr std::chrono::seconds kLastWord{5};
/// Between two looks whether the chief has ended the session.
constexpr std::chrono::milliseconds kLook{200};

/// Waits until the chief has heard what was reported, or the grace period is nearly over.
void Settle(const RoleContext& context, const GrantSession& session) {
  const SteadyTime deadline = SteadyNow() + context.grace - std::chrono::seconds(2);
  while (session.end() == SessionEnd::kNone && SteadyNow() < deadline) session.WaitForEnd(kLook);
}

Result<int> EndOf(const GrantSession& session) {
  if (session.end() == SessionEnd::kFailed) return session.status();
  if (session.end() == SessionEnd::kFinished) return kExitSuccess;
  return session.end() == SessionEnd::kReplaced ? kExitDisrupted : kExitDrained;
}

}  // namespace

Result<int> RunClosures(const RoleContext& context, const ClosureJob& job) {
  const RealClock clock;
  PsProblems problems(clock);
  GrantSession session(
      context, problems,
      {.kind = GrantSession::Kind::kClosures, .window = 2 * std::max(1u, job.closures)});
  const Result<RunDescription> run = session.Start();
  if (!run.ok() && run.status().code() == StatusCode::kCancelled) return EndOf(session);
  PSTRAIN_RETURN_IF_ERROR(run.status());
  WorkerStats stats(context.stats);
  RuntimeStats common(context.stats);
  RoleTransport transport(context);
  PsClientOptions options;
  options.pull_duration = stats.pull_duration;
  options.push_duration = stats.push_duration;
  options.problems = &problems;
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<PsClient> ps,
                           PsClient::Create({run->variables().begin(), run->variables().end()},
                                            run->shards(), *transport, std::move(options)));
  const std::unique_ptr<ClosureRunner> runner = job.create_runner();
  LogInfo("worker", "doing closures", {{"index", context.index}, {"run", run->run_id()}});
  const std::stop_callback leave(context.stop, [&session] { session.Leave(); });
  common.ready->Set(1);
  const Status status = ClosureLoop(context, session, *ps, *runner, stats).Run(job.closures);
  session.GiveBackAll();
  if (!status.ok()) {
    session.WaitForEnd(kLastWord);
    return status;
  }
  Settle(context, session);
  return EndOf(session);
}

}  // namespace pstrain
