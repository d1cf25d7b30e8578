#include "runtime/chief/disk/warm_start.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/os/files.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/evaluations.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/chief/disk/variable_difference.h"
#include "runtime/shard/optimizer.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {
namespace {

constexpr const char* kField = "spec.training.restore.run";

Status DoesNotFit(const std::string& directory, const std::string& what) {
  return FailedPreconditionError(std::string(kField) + ": " + directory +
                                 " does not fit this job: " + what +
                                 "; give it the same model, features and strategy, or begin "
                                 "without it");
}

/// What of a variable has to be the same. Where its rows that were never touched begin, and how it
/// is trained, are this job's.
VariableSpec Comparable(VariableSpec variable) {
  variable.clear_initializer();
  variable.clear_optimizer();
  return variable;
}

bool SamePartitions(const VariableSpec& a, const VariableSpec& b) {
  return std::ranges::equal(a.partitions(), b.partitions(),
                            [](const Partition& one, const Partition& other) {
                              return one.begin() == other.begin() && one.size() == other.size() &&
                                     one.shard() == other.shard();
                            });
}

/// Empty: values of that checkpoint lie where this run looks for them. Shards name variables by
/// their ids.
std::string Difference(const CheckpointManifest& theirs, const RunDescription& run) {
  if (theirs.shards() != run.shards()) {
    return "it has " + std::to_string(theirs.shards()) + " shards, and the job " +
           std::to_string(run.shards()) + " (spec.strategy.shards)";
  }
  const int most = std::max(theirs.variables_size(), run.variables_size());
  for (int i = 0; i < most; ++i) {
    if (i >= run.variables_size() ||
        (i < theirs.variables_size() && theirs.variables(i).name() != run.variables(i).name())) {
      return "it has variable " + theirs.variables(i).name() + ", where the job has " +
             (i < run.variables_size() ? run.variables(i).name() : std::string("none"));
    }
    const VariableSpec& ours = run.variables(i);
    if (i >= theirs.variables_size()) return "it has no variable " + ours.name();
    const std::string difference =
        VariableDifference(Comparable(theirs.variables(i)), Comparable(ours));
    if (!difference.empty()) return "variable " + ours.name() + ": " + difference + " there";
    if (!SamePartitions(theirs.variables(i), ours)) {
      return "variable " + ours.name() + " is divided in another way (spec.strategy)";
    }
  }
  return {};
}

/// What an optimizer keeps beside the values of a variable.
Result<std::vector<OptimizerSlot>> SlotsOf(const VariableSpec& variable) {
  if (!variable.has_optimizer()) return std::vector<OptimizerSlot>();
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const OptimizerRule> rule,
                           OptimizerRule::Create(variable.optimizer()));
  return rule->slots();
}

bool SameSlots(const std::vector<OptimizerSlot>& a, const std::vector<OptimizerSlot>& b) {
  return std::ranges::equal(a, b, [](const OptimizerSlot& one, const OptimizerSlot& other) {
    return one.name == other.name && one.form == other.form;
  });
}

/// Slots of `count` values in rows of `dimension` (0: a partition). Built-in training has float32.
std::vector<ValueArray> FreshSlots(const std::vector<OptimizerSlot>& slots, std::size_t count,
                                   std::size_t dimension) {
  std::vector<ValueArray> fresh;
  for (const OptimizerSlot& slot : slots) {
    const std::size_t size =
        dimension == 0 ? slot.OfPartition(count) : count / dimension * slot.OfRow(dimension);
    fresh.emplace_back(std::vector<float>(size, static_cast<float>(slot.initial_value)));
  }
  return fresh;
}

/// The slots of this job's optimizer in place of those of another one.
Status RenewSlots(const CheckpointManifest& theirs, const RunDescription& run, ShardState& state) {
  const auto renew = [&](VariableId id, std::size_t count, std::size_t dimension,
                         std::vector<ValueArray>& slots) -> Status {
    PSTRAIN_ASSIGN_OR_RETURN(const auto was, SlotsOf(theirs.variables(static_cast<int>(id))));
    PSTRAIN_ASSIGN_OR_RETURN(const auto is, SlotsOf(run.variables(static_cast<int>(id))));
    if (!SameSlots(was, is)) slots = FreshSlots(is, count, dimension);
    return OkStatus();
  };
  for (DenseState& dense : state.dense) {
    PSTRAIN_RETURN_IF_ERROR(renew(dense.variable, dense.values.size(), 0, dense.slots));
  }
  for (TableState& table : state.tables) {
    const VariableSpec& variable = run.variables(static_cast<int>(table.variable));
    const auto dimension = static_cast<std::size_t>(variable.shape(variable.shape_size() - 1));
    PSTRAIN_RETURN_IF_ERROR(renew(table.variable, table.values.size(), dimension, table.slots));
  }
  return OkStatus();
}

CheckpointManifest ManifestOf(const RunDescription& run, const ChiefTerm& term,
                              const JobSpec& job) {
  CheckpointManifest manifest;
  manifest.set_run_id(run.run_id());
  manifest.set_chief_term(term.number);
  manifest.set_shards(run.shards());
  manifest.set_batches_per_epoch(run.batches_per_epoch());
  *manifest.mutable_variables() = run.variables();
  manifest.set_generation(run.generation());
  manifest.set_created_unix_ms(
      std::chrono::duration_cast<std::chrono::milliseconds>(WallNow().time_since_epoch()).count());
  *manifest.mutable_job() = FixedPart(job);
  return manifest;
}

}  // namespace

Result<GoodCheckpoint> BeginWith(const WarmStart& from, const RunDescription& run,
                                 const ChiefTerm& term, const JobSpec& job) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const GoodCheckpoint source,
      FindNamedCheckpoint(from.directory, from.checkpoint, std::string(kField) + ".checkpoint"));
  if (const std::string difference = Difference(source.manifest, run); !difference.empty()) {
    return DoesNotFit(source.directory, difference);
  }
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointChain chain, CheckpointChain::Open(source.directory));
  const CheckpointId id{term.number, 0};
  PSTRAIN_RETURN_IF_ERROR(RemoveCheckpoint(run.run_directory(), id));
  PSTRAIN_ASSIGN_OR_RETURN(const std::string directory,
                           CreateCheckpointDirectory(run.run_directory(), id));
  CheckpointManifest manifest = ManifestOf(run, term, job);
  for (ShardId shard = 0; shard < run.shards(); ++shard) {
    PSTRAIN_ASSIGN_OR_RETURN(ShardState state, chain.Read(shard));
    PSTRAIN_RETURN_IF_ERROR(RenewSlots(source.manifest, run, state));
    state.term = {term.number, 0};
    state.applied = AppliedSet(run.batches_per_epoch());
    state.examples = 0;
    state.skipped = 0;
    state.non_finite = 0;
    state.left_out.clear();
    PSTRAIN_ASSIGN_OR_RETURN(*manifest.add_checkpoint_shards(),
                             WriteCheckpointShard(directory, state));
  }
  PSTRAIN_RETURN_IF_ERROR(WriteManifest(directory, manifest,
                                        [&] { return CheckChiefTerm(run.run_directory(), term); }));
  LogInfo("chief", "the run begins with the values of another one",
          {{"checkpoint", source.directory}});
  GoodCheckpoint begun;
  begun.id = id;
  begun.directory = directory;
  PSTRAIN_ASSIGN_OR_RETURN(begun.manifest, ReadManifest(directory));
  return begun;
}

}  // namespace pstrain
