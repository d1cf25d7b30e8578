#include "runtime/chief/run_chief.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "proto/contract/exit_codes.h"
#include "runtime/chief/chief.h"
#include "runtime/chief/chief_service.h"
#include "runtime/chief/disk/ps_count_file.h"
#include "runtime/chief/grants/grant_barriers.h"
#include "runtime/chief/peers/rpc_ps_link.h"
#include "runtime/chief/run_numbers.h"
#include "runtime/cluster/limits.h"
#include "runtime/cluster/process_end.h"
#include "runtime/cluster/try_again.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/in_process/local_network.h"

namespace pstrain {
namespace {

/// A limit where `pstrain run` has asked for one (--chaos, --stop-at): null for all other runs.
Result<std::unique_ptr<GrantLimit>> FindGrantLimit(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(GrantBarriers barriers, GrantBarriers::Find(run_directory));
  if (barriers.empty()) return std::unique_ptr<GrantLimit>();
  return std::unique_ptr<GrantLimit>(std::make_unique<GrantBarriers>(std::move(barriers)));
}

/// Each replica has one connection, and an old one while the next is opened; some are kept for who
/// looks for the chief, and for probes by hand.
std::size_t MostConnections(const RoleContext& context) {
  constexpr std::size_t kReserve = 64;
  const auto ps = static_cast<std::size_t>(context.job.spec.replica_specs().ps().replicas());
  const bool ps_may_change = !context.ps_replicas_file.empty();
  return 2 * (context.most_workers + (ps_may_change ? kMostReplicas : ps) + 1) + kReserve;
}

/// Nobody listens yet who could tell of a directory that hangs.
Result<ChiefSetup> Prepare(const RoleContext& context, const ChiefJob& job) {
  const ProcessEnd::Work work(context.end,
                              "prepare the run in " + context.run_directory().string());
  return PrepareChief(context, job);
}

int TellFinished(const RoleContext& context, const FinalCounts& counts, const std::string& run) {
  ChiefStats stats(context.stats);
  PublishFinished(counts, stats);
  LogInfo("chief", "the run is finished already", {{"run", run}});
  return kExitSuccess;
}

}  // namespace

Result<int> RunChief(const RoleContext& context, const ChiefJob& job) {
  // Before a term is taken, which would end a chief that runs.
  if (context.network == nullptr) {
    PSTRAIN_RETURN_IF_ERROR(CheckCanListen(context.listen_address));
  }
  Result<ChiefSetup> prepared = Prepare(context, job);
  if (!prepared.ok()) return EndOfSetup(context, prepared.status());
  ChiefSetup setup = *std::move(prepared);
  const Result<std::optional<FinalCounts>> finished = TryAgain(context).Until(
      [&] { return setup.directory.Finished(ExamplesExpected(setup), job.evaluation_digest); },
      TryAgain::ReadMayPass);
  if (finished.status().code() == StatusCode::kAborted) return EndAsSuperseded(finished.status());
  PSTRAIN_RETURN_IF_ERROR(finished.status());
  if (*finished) return TellFinished(context, **finished, setup.directory.path());
  LogInfo("chief", "run opened",
          {{"run", setup.directory.path()},
           {"chief_term", setup.directory.chief_term()},
           {"batches_per_epoch", setup.run.batches_per_epoch()},
           {"from_checkpoint",
            setup.checkpoint ? CheckpointName(setup.checkpoint->id) : std::string("none")}});
  PSTRAIN_ASSIGN_OR_RETURN(std::unique_ptr<GrantLimit> grant_limit,
                           FindGrantLimit(setup.directory.path()));
  const MessageBounds bounds =
      BoundsOfMessages(setup.run.shards(), job.epochs, setup.run.batches_per_epoch());
  const RealClock clock;
  Refusals refusals(context.stats);
  PsCountFile ps_count_file(context.ps_replicas_file, clock);
  Chief chief(context, std::move(setup),
              {.clock = clock,
               .connect =
                   [&clock, &context](const std::string& address, RunLocked run_locked) {
                     return std::make_unique<RpcPsLink>(ConnectToPs(context, address),
                                                        ConnectToPs(context, address),
                                                        std::move(run_locked), clock);
                   },
               .refusals = refusals,
               .grant_limit = std::move(grant_limit),
               .wanted_ps = [&ps_count_file] { return ps_count_file.Poll(); }});
  const ChiefService service(chief, refusals, bounds);
  PSTRAIN_ASSIGN_OR_RETURN(
      const std::unique_ptr<ControlServer> server,
      ServeControl(context,
                   {.services = {&service},
                    .verifier = VerifierOf(context.identity),
                    .options = {.message_bytes = bounds.largest(),
                                .connections = MostConnections(context),
                                .on_error =
                                    [&refusals](const std::string& peer, const Status& error) {
                                      refusals.CountIfRefused(peer, error);
                                    },
                                .tls = TlsOf(context.identity)}}));
  if (job.serving) job.serving(&chief);
  Result<int> outcome = chief.Run();
  if (job.serving) job.serving(nullptr);
  context.Decided(outcome);
  server->Shutdown(std::chrono::milliseconds(500));
  return outcome;
}

}  // namespace pstrain
