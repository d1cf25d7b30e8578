#include "runtime/chief/chief_setup.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "runtime/chief/protocol/placement.h"
#include "runtime/cluster/permanent_failure.h"

namespace pstrain {
namespace {

/// Does the steps of the start, each with the job's patience.
class Steps {
 public:
  Steps(const RoleContext& context, TryAgain::Pause pause, bool was_started)
      : limit_(context.peer_timeout()), pause_(std::move(pause)), was_started_(was_started) {}

  /// A step that writes. What the disk of a run has taken once it may take again; a run that begins
  /// on a full disk, or where nobody may write, is seen to immediately.
  template <typename Step>
  auto Write(Step step) const {
    return TryAgain(limit_, pause_)
        .Until(step, was_started_ ? TryAgain::ReadMayPass : TryAgain::MayPass);
  }
  /// A step that only reads.
  template <typename Step>
  auto Read(Step step) const {
    return TryAgain(limit_, pause_).Until(step, TryAgain::ReadMayPass);
  }

 private:
  const std::chrono::seconds limit_;
  const TryAgain::Pause pause_;
  const bool was_started_;
};

/// The newest good checkpoint to go on from, or nothing: of a run without checkpoints, or that
/// starts over.
Result<std::optional<GoodCheckpoint>> FindCheckpoint(const RoleContext& context, const Steps& steps,
                                                     const ChiefJob& job,
                                                     const RunDescription& run) {
  if (job.starts_over) return std::optional<GoodCheckpoint>();
  CheckpointExpectation expectation;
  expectation.run_id = run.run_id();
  expectation.variables.emplace(run.variables().begin(), run.variables().end());
  expectation.shards = run.shards();
  expectation.batches_per_epoch = run.batches_per_epoch();
  expectation.job = context.job.spec;
  Result<GoodCheckpoint> checkpoint =
      steps.Read([&] { return NewestGoodCheckpoint(run.run_directory(), expectation); });
  if (!checkpoint.ok() && checkpoint.status().code() == StatusCode::kNotFound)
    return std::optional<GoodCheckpoint>();
  if (!checkpoint.ok()) return checkpoint.status();
  for (const std::string& warning : checkpoint->warnings) {
    LogWarning("chief", "a checkpoint was passed over", {{"reason", warning}});
  }
  return std::optional<GoodCheckpoint>(std::move(checkpoint).value());
}

/// The number of epochs may have been changed since the checkpoint, but not below what is in it.
Status EpochsHold(const JobFields& fields, const ChiefJob& job,
                  const std::optional<GoodCheckpoint>& checkpoint) {
  if (!checkpoint) return OkStatus();
  const CheckpointManifest& manifest = checkpoint->manifest;
  std::uint32_t begun = manifest.final() ? manifest.epochs() : 0;
  for (const CheckpointShard& shard : manifest.checkpoint_shards()) {
    begun = std::max(begun, shard.epochs_begun());
  }
  return CheckEpochs(fields.epochs, job.epochs, begun,
                     std::to_string(manifest.examples_committed()) + " examples in checkpoint " +
                         CheckpointName(checkpoint->id));
}

Result<RunDescription> Describe(const RoleContext& context, const RunDirectory& directory,
                                const ChiefJob::Work& work) {
  const Strategy& strategy = context.job.spec.strategy();
  const auto shards = static_cast<std::uint32_t>(strategy.shards());
  std::vector<VariableSpec> variables = work.variables;
  PSTRAIN_RETURN_IF_ERROR(PlacePartitions(strategy.variable_partitioner(), strategy.placement(),
                                          shards, 0, &variables));
  RunDescription fresh;
  fresh.set_run_id(context.run_id);
  fresh.set_run_directory(directory.path());
  fresh.set_shards(shards);
  fresh.set_batches_per_epoch(work.input.batches_per_epoch);
  for (VariableSpec& variable : variables) *fresh.add_variables() = std::move(variable);
  return directory.Description(std::move(fresh));
}

/// How long ago the first chief has written the run's description: by the file system's clock,
/// which a second or a minute more does not matter for. 0 when it cannot be told.
std::chrono::seconds AgeOf(const RunDirectory& directory) {
  struct stat info{};
  if (stat(directory.DescriptionFile().c_str(), &info) != 0) return {};
  const auto age = WallNow() - std::chrono::system_clock::from_time_t(info.st_mtime);
  return std::max(std::chrono::floor<std::chrono::seconds>(age), std::chrono::seconds(0));
}

}  // namespace

Result<ChiefSetup> PrepareChief(const RoleContext& context, const ChiefJob& job) {
  return PrepareChief(context, job, [&context](std::chrono::nanoseconds pause) {
    return PauseFor(pause, context.stop);
  });
}

Result<ChiefSetup> PrepareChief(const RoleContext& context, const ChiefJob& job,
                                const TryAgain::Pause& pause) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const bool was_started,
      TryAgain(context.peer_timeout(), pause)
          .Until([&] { return RunDirectory::WasStarted(context.job, context.run_id); },
                 TryAgain::ReadMayPass));
  const Steps steps(context, pause, was_started);
  PSTRAIN_ASSIGN_OR_RETURN(RunDirectory directory, steps.Write([&] {
    return RunDirectory::Open(context.job, context.run_id);
  }));
  // A job that differs is refused before its input is read.
  const auto job_checked = steps.Write([&]() -> Result<bool> {
    PSTRAIN_RETURN_IF_ERROR(directory.CheckJob());
    return true;
  });
  if (!job_checked.ok()) return job_checked.status();
  const ChiefJob::Place place{.index_file = directory.IndexFile(),
                              .scratch = context.scratch.string(),
                              .must_be_writable = directory.MustBeWritable()};
  PSTRAIN_ASSIGN_OR_RETURN(ChiefJob::Work work, steps.Write([&] { return job.open_work(place); }));
  PSTRAIN_ASSIGN_OR_RETURN(RunDescription run, steps.Write([&]() -> Result<RunDescription> {
    if (job.starts_over) PSTRAIN_RETURN_IF_ERROR(directory.ForgetDeclarations());
    return Describe(context, directory, work);
  }));
  PSTRAIN_ASSIGN_OR_RETURN(std::optional<GoodCheckpoint> checkpoint,
                           FindCheckpoint(context, steps, job, run));
  PSTRAIN_RETURN_IF_ERROR(EpochsHold(context.job.fields, job, checkpoint));
  std::vector<std::string> names;
  if (checkpoint) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointId> ids,
                             steps.Read([&] { return ListCheckpoints(run.run_directory()); }));
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      if (*id <= checkpoint->id) names.push_back(CheckpointName(*id));
    }
  }
  const std::chrono::seconds age = AgeOf(directory);
  return ChiefSetup{
      std::move(directory), job, std::move(work), std::move(run), std::move(checkpoint),
      std::move(names),     age};
}

Result<int> EndOfSetup(const RoleContext& context, const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kDataLoss:
      return EndForInvalidInput(context, status);
    case StatusCode::kAborted:
      return EndAsSuperseded(status);
    case StatusCode::kPermissionDenied:
    case StatusCode::kAlreadyExists: {
      // What a disk refuses a run that was started before may pass. It may have been, where the
      // disk does not even say that.
      const Result<bool> was_started = RunDirectory::WasStarted(context.job, context.run_id);
      if (was_started.ok() && !*was_started) return EndForInvalidInput(context, status);
      return status;
    }
    default:
      // A full disk gets room.
      return status;
  }
}

int EndAsSuperseded(const Status& status) {
  LogWarning("chief", "another chief has taken over", {{"reason", status}});
  return kExitDisrupted;
}

// What was declared since lies in shards by name: these stay where they are, also when the next
// chief computes the homes.
std::vector<std::uint32_t> HomesOfShards(const RoleContext& context, const ChiefSetup& setup,
                                         std::uint32_t ps_count) {
  std::vector<VariableSpec> first;
  for (const VariableSpec& variable : setup.run.variables()) {
    if (variable.generation() == 0) first.push_back(variable);
  }
  return PlaceShards(first, context.job.spec.strategy().placement(), setup.run.shards(), ps_count,
                     setup.job.batch_size);
}

std::optional<std::int64_t> ExamplesExpected(const ChiefSetup& setup) {
  if (setup.job.starts_over) return std::nullopt;
  return setup.work.records * setup.job.epochs;
}

ProtocolOptions MakeProtocolOptions(const RoleContext& context, const ChiefSetup& setup,
                                    ProtocolTime now) {
  ProtocolOptions options;
  options.chief_term = setup.directory.chief_term();
  options.shards = setup.run.shards();
  options.input = setup.work.input;
  options.input.batches_per_epoch = setup.run.batches_per_epoch();
  options.source = setup.work.source;
  options.ps_count = static_cast<std::uint32_t>(context.job.spec.replica_specs().ps().replicas());
  options.shard_to_ps = HomesOfShards(context, setup, options.ps_count);
  options.started = now;
  options.rejoin_timeout = setup.job.rejoin_timeout;
  options.checkpoints = setup.checkpoints;
  options.full_every = setup.job.checkpoints.full_every;
  options.epochs_field = context.job.fields.epochs;
  return options;
}

}  // namespace pstrain
