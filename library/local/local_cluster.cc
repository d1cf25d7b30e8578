#include "library/local/local_cluster.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "library/worker/run_closures.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/ps/run_ps.h"

namespace pstrain {
namespace {

/// Threads of one process do not lose each other: nobody is missed.
constexpr std::chrono::hours kForEver{24 * 365};
/// What a run that is given up may take: its functions end meanwhile, or their updates are lost.
constexpr std::chrono::seconds kGrace{15};
/// Within one process no message is refused for its size.
constexpr std::uint64_t kMessageBytes = std::uint64_t{1} << 40;
/// Looks like host:port, which the control plane asks for; only the network below knows it.
constexpr const char* kChief = "chief:0";

std::string PsName(std::uint32_t index) { return "ps-" + std::to_string(index) + ":0"; }

JobSettings SettingsOf(const LocalCluster::Options& options, const std::string& scratch) {
  JobSettings settings;
  settings.checkpoint_directory = options.directory.empty() ? scratch : options.directory;
  settings.fields.checkpoint_directory = "StrategyOptions.checkpoint_directory";
  settings.peer_timeout = kForEver;
  Strategy* strategy = settings.spec.mutable_strategy();
  strategy->set_shards(static_cast<int>(options.shards));
  // As TensorFlow: one variable after the other. What a run begins with is nothing, so that there
  // is no load to place by.
  strategy->set_placement(Strategy::RoundRobin);
  strategy->mutable_variable_partitioner()->mutable_fixed_shards()->set_num_shards(1);
  ReplicaSpecs* replicas = settings.spec.mutable_replica_specs();
  replicas->mutable_ps()->set_replicas(static_cast<int>(options.ps));
  replicas->mutable_worker()->set_replicas(static_cast<int>(options.workers));
  return settings;
}

}  // namespace

Result<std::unique_ptr<LocalCluster>> LocalCluster::Start(Options options, ClosureQueue& queue) {
  PSTRAIN_ASSIGN_OR_RETURN(ScratchDirectory directory, ScratchDirectory::Create());
  std::unique_ptr<LocalCluster> cluster(
      new LocalCluster(std::move(options), queue, std::move(directory)));
  cluster->Launch();
  return cluster;
}

LocalCluster::LocalCluster(Options options, ClosureQueue& queue, ScratchDirectory directory)
    : options_(std::move(options)),
      queue_(queue),
      directory_(std::move(directory)),
      settings_(SettingsOf(options_, directory_.path())) {}

LocalCluster::~LocalCluster() {
  Stop();
  static_cast<void>(Wait());
}

RoleContext LocalCluster::ContextOf(std::uint32_t index, const std::string& name,
                                    StatsWriter& stats) {
  return {.job = settings_,
          .run_id = "run",
          .index = index,
          .listen_address = name,
          .own_address = name,
          .chief_address = kChief,
          .scratch = directory_.path(),
          .grace = kGrace,
          .network = &network_,
          .stats = stats,
          .fail_points = FailPoints::None(),
          .stop = stop_others_.get_token()};
}

void LocalCluster::Launch() {
  auto chief = std::make_unique<Role>();
  chief->context = std::make_unique<RoleContext>(ContextOf(0, kChief, *chief->stats));
  chief->context->stop = stop_chief_.get_token();
  ChiefJob job;
  job.starts_over = true;
  job.copies_may_be_lost = false;
  chief_ = std::make_unique<ChiefThread>(*chief->context, std::move(job), queue_,
                                         [this] { stop_others_.request_stop(); });
  roles_.push_back(std::move(chief));
  for (std::uint32_t i = 0; i < options_.ps; ++i) {
    Launch(i, PsName(i), [](const RoleContext& context) {
      return RunPs(context, {.message_bytes = kMessageBytes});
    });
  }
  for (std::uint32_t i = 0; i < options_.workers; ++i) {
    Launch(i, "worker-" + std::to_string(i) + ":0", [this, i](const RoleContext& context) {
      return RunClosures(context, {.create_runner = [this, i] { return options_.create_runner(i); },
                                   .closures = options_.closures,
                                   .ends_when_all_hang = false});
    });
  }
}

void LocalCluster::Launch(std::uint32_t index, const std::string& name,
                          std::function<Result<int>(const RoleContext& context)> run) {
  auto role = std::make_unique<Role>();
  role->context = std::make_unique<RoleContext>(ContextOf(index, name, *role->stats));
  role->context->data_address = "in-process://" + name;
  role->thread = std::thread([this, name, run = std::move(run), context = role->context.get()] {
    const Result<int> outcome = run(*context);
    if (outcome.ok() || stop_others_.stop_requested()) return;
    chief_->NoteFailure(outcome.status().WithContext(name));
    Stop();
  });
  roles_.push_back(std::move(role));
}

Result<int> LocalCluster::Wait() {
  Result<int> outcome = chief_->Wait();
  for (const std::unique_ptr<Role>& role : roles_) {
    if (role->thread.joinable()) role->thread.join();
  }
  return outcome;
}

}  // namespace pstrain
