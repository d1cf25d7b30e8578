#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/ps/data_handler.h"
#include "runtime/shard/shard_engine.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {

inline constexpr std::uint32_t kShards = 4;
inline constexpr VariableId kDense = 0;
inline constexpr VariableId kTable = 1;

/// A dense variable [6, 2] in two partitions (shards 1 and 2) and a table [1000, 3], both zeros,
/// SGD with rate 1: after pushes the values are minus the sum of the gradients.
inline std::vector<VariableSpec> SampleVariables() {
  std::vector<VariableSpec> variables(2);
  VariableSpec& dense = variables[0];
  dense.set_id(kDense);
  dense.set_name("dense");
  dense.set_kind(VariableSpec::DENSE);
  dense.add_shape(6);
  dense.add_shape(2);
  for (int p = 0; p < 2; ++p) {
    Partition* part = dense.add_partitions();
    part->set_begin(p * 4);
    part->set_size(p == 0 ? 4 : 2);
    part->set_shard(static_cast<std::uint32_t>(p + 1));
  }
  VariableSpec& table = variables[1];
  table.set_id(kTable);
  table.set_name("table");
  table.set_kind(VariableSpec::EMBEDDING);
  table.add_shape(1000);
  table.add_shape(3);
  for (VariableSpec& variable : variables) {
    variable.mutable_initializer()->set_kind(Initializer::ZEROS);
    variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(1.0);
  }
  return variables;
}

/// One ps without a server: engine and handler.
struct TestPs {
  TestPs() {
    ShardEngineConfig config;
    config.variables = SampleVariables();
    config.shards = kShards;
    config.batches_per_epoch = 100;
    config.epochs = 100;
    configured = engine->Configure(config);
  }
  /// Takes shards over with initial values.
  Status Own(const std::vector<ShardId>& shards, ShardTerm term) {
    std::vector<ShardAssignment> assignments;
    for (const ShardId shard : shards) {
      assignments.push_back({shard, term, AssignSource::kInitial});
    }
    std::promise<Status> done;
    engine->Assign(std::move(assignments), {}, [&](const Result<std::vector<ShardCopy>>& copies) {
      done.set_value(copies.status());
    });
    return done.get_future().get();
  }

  std::unique_ptr<ShardEngine> engine = std::make_unique<ShardEngine>(ShardEngineOptions{});
  PsDataHandler handler{*engine};
  Status configured;
};

/// ps i at addresses[i]; shard s belongs to ps s mod count in term {1, s}.
inline Membership SampleMembership(const std::vector<std::string>& addresses) {
  Membership membership;
  membership.set_number(1);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    PsMember* member = membership.add_ps();
    member->set_index(static_cast<std::uint32_t>(i));
    member->set_incarnation(1);
    member->set_address(addresses[i]);
  }
  for (std::uint32_t s = 0; s < kShards; ++s) {
    ShardOwner* owner = membership.add_shards();
    owner->set_ps(s % static_cast<std::uint32_t>(addresses.size()));
    owner->mutable_term()->set_chief_term(1);
    owner->mutable_term()->set_counter(7);
    owner->set_active(true);
  }
  return membership;
}
inline constexpr ShardTerm kSampleTerm{1, 7};

/// A step that reads the dense variable and `rows` of the table.
inline StepAccess SamplePlan(std::vector<std::uint64_t> rows) {
  StepAccess access;
  access.dense = {kDense};
  access.requests.push_back({kTable, std::move(rows)});
  return access;
}

/// Distinct gradients: dense i -> i + 1, row r -> {r, r + 0.5, -r}.
inline StepUpdates SampleGradients(const StepAccess& access) {
  std::vector<float> dense;
  for (int i = 0; i < 12; ++i) dense.push_back(static_cast<float>(i + 1));
  std::vector<float> rows;
  for (const std::uint64_t row : access.requests[0].rows) {
    const auto value = static_cast<float>(row);
    rows.insert(rows.end(), {value, value + 0.5F, -value});
  }
  StepUpdates gradients;
  gradients.dense.push_back({kDense, std::move(dense)});
  gradients.rows.push_back({0, std::move(rows)});
  return gradients;
}

/// What the values are after `times` pushes of the gradients.
inline StepValues Expected(const StepUpdates& gradients, float times) {
  const auto after = [times](ValueArray values) {
    for (float& value : values.of<float>()) value = 0.0F - times * value;
    return values;
  };
  StepValues values;
  values.dense = {after(gradients.dense[0].values)};
  values.rows = {after(gradients.rows[0].values)};
  return values;
}

}  // namespace pstrain
