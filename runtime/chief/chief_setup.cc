#include "runtime/chief/chief_setup.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "runtime/checkpoint/histories.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/chief/disk/scores.h"
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

void LogPassedOver(const GoodCheckpoint& checkpoint) {
  for (const std::string& warning : checkpoint.warnings) {
    LogWarning("chief", "a checkpoint was passed over", {{"reason", warning}});
  }
}

/// The newest good checkpoint to go on from, or nothing: of a run without checkpoints.
Result<std::optional<GoodCheckpoint>> FindCheckpoint(const RoleContext& context, const Steps& steps,
                                                     const RunDescription& run) {
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
  LogPassedOver(*checkpoint);
  return std::optional<GoodCheckpoint>(std::move(checkpoint).value());
}

/// Where a program goes on.
struct Return {
  std::vector<CheckpointId> marks;
  std::optional<GoodMark> mark;
  std::uint64_t calls_lost = 0;
};

/// By the newest checkpoint, which is of calls that were done after those before `next_id`; what
/// was done after it nobody knows any more.
std::uint64_t CallsLost(const std::string& run_directory, std::uint64_t next_id) {
  const auto checkpoints = ListCheckpoints(run_directory);
  if (!checkpoints.ok() || checkpoints->empty()) return 0;
  const auto newest = ReadManifest(CheckpointDirectory(run_directory, checkpoints->back()));
  const std::int64_t done = newest.ok() ? newest->examples_committed() : 0;
  return static_cast<std::uint64_t>(done) > next_id ? static_cast<std::uint64_t>(done) - next_id
                                                    : 0;
}

/// The newest good mark of the histories before; its note is the first that this chief writes of
/// the run.
Result<Return> ReturnToMark(const RoleContext& context, const Steps& steps,
                            const RunDirectory& directory, const ChiefJob::Work& work) {
  CheckpointExpectation expectation;
  expectation.run_id = context.run_id;
  expectation.batches_per_epoch = work.input.batches_per_epoch;
  expectation.job = context.job.spec;
  Return found;
  PSTRAIN_ASSIGN_OR_RETURN(found.marks, steps.Read([&] {
    return MarksBefore(directory.path(), directory.chief_term());
  }));
  if (!found.marks.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(found.mark, steps.Read([&] {
      return NewestGoodMark(directory.path(), found.marks, expectation);
    }));
    const GoodCheckpoint& checkpoint = found.mark->checkpoint;
    LogPassedOver(checkpoint);
    std::erase_if(found.marks, [&](const CheckpointId& id) { return id > checkpoint.id; });
    found.calls_lost = CallsLost(directory.path(), found.mark->mark.next_id());
    LogInfo("chief", "the program goes on from its newest mark",
            {{"mark", found.mark->mark.mark()},
             {"checkpoint", CheckpointName(checkpoint.id)},
             {"calls", found.mark->mark.next_id()},
             {"calls_lost_at_least", found.calls_lost}});
  }
  if (!found.mark && directory.chief_term() > 1) {
    found.calls_lost = CallsLost(directory.path(), 0);
    LogInfo("chief", "the program begins from its initial state, as it has no mark",
            {{"calls_lost_at_least", found.calls_lost}});
  }
  const auto noted = steps.Write([&]() -> Result<bool> {
    PSTRAIN_RETURN_IF_ERROR(directory.WriteHistory(
        found.mark ? std::optional(found.mark->checkpoint.id) : std::nullopt));
    return true;
  });
  if (!noted.ok()) return noted.status();
  return found;
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

/// Of a program: nothing of former chiefs but a mark.
Result<ChiefSetup> PrepareReturn(const RoleContext& context, const ChiefJob& job,
                                 const Steps& steps, RunDirectory directory,
                                 const ChiefJob::Work& work) {
  PSTRAIN_ASSIGN_OR_RETURN(Return found, ReturnToMark(context, steps, directory, work));
  std::vector<VariableSpec> variables;
  if (found.mark) {
    const CheckpointManifest& manifest = found.mark->checkpoint.manifest;
    variables.assign(manifest.variables().begin(), manifest.variables().end());
  }
  PSTRAIN_ASSIGN_OR_RETURN(RunDescription run, steps.Write([&]() -> Result<RunDescription> {
    PSTRAIN_RETURN_IF_ERROR(directory.SetDeclarations(variables));
    return Describe(context, directory, work);
  }));
  const std::chrono::seconds age = AgeOf(directory);
  ChiefSetup setup{std::move(directory), job, work, std::move(run), std::nullopt, {}, age};
  setup.marks = std::move(found.marks);
  setup.calls_lost = found.calls_lost;
  if (!found.mark) return setup;
  setup.checkpoint = std::move(found.mark->checkpoint);
  setup.checkpoints = {CheckpointName(setup.checkpoint->id)};
  setup.mark = std::move(found.mark->mark);
  if (setup.work.returned) setup.work.returned(*setup.mark);
  return setup;
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
  if (job.starts_over) return PrepareReturn(context, job, steps, std::move(directory), work);
  PSTRAIN_ASSIGN_OR_RETURN(RunDescription run,
                           steps.Write([&] { return Describe(context, directory, work); }));
  PSTRAIN_ASSIGN_OR_RETURN(std::optional<GoodCheckpoint> checkpoint,
                           FindCheckpoint(context, steps, run));
  if (!checkpoint && job.warm_start) {
    PSTRAIN_ASSIGN_OR_RETURN(checkpoint, steps.Write([&] {
      return BeginWith(*job.warm_start, run, directory.term(), context.job.spec);
    }));
  }
  PSTRAIN_RETURN_IF_ERROR(EpochsHold(context.job.fields, job, checkpoint));
  PSTRAIN_ASSIGN_OR_RETURN(RunEvaluations evaluations, steps.Read([&] {
    return OpenEvaluations(run.run_directory(), job, context.job.fields.epochs);
  }));
  std::vector<std::string> names;
  if (checkpoint) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointId> ids,
                             steps.Read([&] { return ListCheckpoints(run.run_directory()); }));
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      if (*id <= checkpoint->id) names.push_back(CheckpointName(*id));
    }
  }
  const std::chrono::seconds age = AgeOf(directory);
  ChiefSetup setup{
      std::move(directory), job, std::move(work), std::move(run), std::move(checkpoint),
      std::move(names),     age};
  setup.evaluations = std::move(evaluations);
  return setup;
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
  if (setup.job.starts_over || setup.evaluations.has_early_stop()) return std::nullopt;
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
  options.return_when_lost = setup.job.return_when_lost;
  options.copies_may_be_lost = setup.job.copies_may_be_lost;
  if (setup.evaluations.has_early_stop()) {
    const Result<AppliedSet> granted = AppliedSet::Parse(setup.evaluations.early_stop().granted());
    if (granted.ok()) options.early_end = *granted;
  }
  return options;
}

}  // namespace pstrain
