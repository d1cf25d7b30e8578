#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/requests/routing.h"
#include "runtime/shard/catalog.h"

namespace pstrain::checkpoint_test {

constexpr std::uint32_t kBatches = 8;

/// A dense variable of 6 x 2 in `partitions` parts over the shards in turn and a table of 100 x 3,
/// both with Adagrad.
inline std::vector<VariableSpec> Variables(std::uint32_t shards, std::uint32_t partitions = 2) {
  VariableSpec dense;
  dense.set_name("dense");
  dense.set_kind(VariableSpec::DENSE);
  dense.add_shape(6);
  dense.add_shape(2);
  for (std::uint32_t i = 0; i < partitions; ++i) {
    Partition* partition = dense.add_partitions();
    partition->set_begin(6 / partitions * i);
    partition->set_size(6 / partitions);
    partition->set_shard(i % shards);
  }
  VariableSpec table;
  table.set_id(1);
  table.set_name("table");
  table.set_kind(VariableSpec::EMBEDDING);
  table.add_shape(100);
  table.add_shape(3);
  for (VariableSpec* spec : {&dense, &table}) {
    spec->mutable_initializer()->set_kind(Initializer::UNIFORM);
    spec->mutable_initializer()->set_scale(1);
    Adagrad* adagrad = spec->mutable_optimizer()->mutable_adagrad();
    adagrad->set_learning_rate(0.1);
    adagrad->set_initial_accumulator_value(0.1);
  }
  return {dense, table};
}

/// Values that depend on the variable's own indices alone, not on how it is cut up. The rows that
/// exist are the multiples of 7, and come in descending order.
inline ShardState State(const Catalog& catalog, ShardId shard, float offset = 0) {
  ShardState state;
  state.shard = shard;
  state.term = {1, shard + 1};
  state.variables = static_cast<std::uint32_t>(catalog.variables().size());
  for (const PartitionRef& ref : catalog.DenseOf(shard)) {
    const DensePartition& partition = catalog.variables()[ref.variable].partitions[ref.partition];
    DenseState& dense = state.dense.emplace_back();
    dense.variable = ref.variable;
    dense.partition = ref.partition;
    for (std::uint64_t i = 0; i < partition.count; ++i) {
      dense.values.of<float>().push_back(static_cast<float>(partition.first + i) + offset);
    }
    dense.slots.emplace_back(std::vector<float>(partition.count, 2.0f));
  }
  TableState& table = state.tables.emplace_back();
  table.variable = 1;
  table.slots.resize(1);
  for (int key = 98; key >= 0; key -= 7) {
    const auto row = static_cast<std::uint64_t>(key);
    if (ShardOfRow(RouteOf("table"), row, catalog.shards()) != shard) continue;
    table.keys.push_back(row);
    for (int i = 0; i < 3; ++i) {
      table.values.of<float>().push_back(static_cast<float>(10 * key + i));
      table.slots[0].of<float>().push_back(static_cast<float>(key + 1));
    }
  }
  state.applied = AppliedSet(kBatches);
  state.applied.Insert({0, 1});
  state.examples = 128;
  state.skipped = 5;
  return state;
}

/// Writes a checkpoint of these states, one per shard, and returns its directory.
inline std::string WriteCheckpointOf(const std::string& run, CheckpointId id,
                                     const std::vector<VariableSpec>& variables,
                                     const std::vector<ShardState>& states,
                                     const std::string& base = "",
                                     const std::string& run_id = "run-a") {
  const auto shards = static_cast<std::uint32_t>(states.size());
  const auto directory = CreateCheckpointDirectory(run, id);
  EXPECT_TRUE(directory.ok()) << directory.status().ToString();
  CheckpointManifest manifest;
  manifest.set_run_id(run_id);
  manifest.set_chief_term(id.chief_term);
  manifest.set_number(id.number);
  manifest.set_shards(shards);
  manifest.set_batches_per_epoch(kBatches);
  for (const VariableSpec& spec : variables) *manifest.add_variables() = spec;
  manifest.set_base(base);
  for (const ShardState& state : states) {
    auto checkpoint_shard = WriteCheckpointShard(*directory, state);
    EXPECT_TRUE(checkpoint_shard.ok()) << checkpoint_shard.status().ToString();
    *manifest.add_checkpoint_shards() = *checkpoint_shard;
  }
  const Status status = WriteManifest(*directory, manifest, nullptr);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return *directory;
}

/// Writes a full checkpoint and returns its directory.
inline std::string WriteCheckpoint(const std::string& run, CheckpointId id, std::uint32_t shards,
                                   std::uint32_t partitions = 2, float offset = 0,
                                   const std::string& run_id = "run-a") {
  const auto variables = Variables(shards, partitions);
  const auto catalog = Catalog::Create(variables, shards, kBatches);
  EXPECT_TRUE(catalog.ok()) << catalog.status().ToString();
  std::vector<ShardState> states;
  for (ShardId shard = 0; shard < shards; ++shard)
    states.push_back(State(**catalog, shard, offset));
  return WriteCheckpointOf(run, id, variables, states, "", run_id);
}

}  // namespace pstrain::checkpoint_test
