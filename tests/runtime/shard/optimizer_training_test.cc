// Each optimizer trains a quadratic through the engine, dense and on rows, to its minimum, and goes
// on from a checkpoint on another number of ps as if nothing had happened.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/checkpoint_shard_format.h"
#include "tests/runtime/shard/every_optimizer.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

constexpr ShardTerm kTerm{1, 1};
constexpr ShardTerm kLater{2, 1};
constexpr std::uint32_t kShards = 4;
constexpr std::uint64_t kRows = 40;
constexpr std::uint32_t kSteps = 900;

/// A rate at which the quadratic below is at its minimum after 600 steps; 0.02 where no other is
/// named.
void SetRate(Optimizer* optimizer) {
  const auto* kind = optimizer->GetReflection()->GetOneofFieldDescriptor(
      *optimizer, Optimizer::descriptor()->FindOneofByName("kind"));
  const std::map<std::string, double> rates = {{"adadelta", 1.0},  {"adagrad", 0.5},
                                               {"ftrl", 0.5},      {"lion", 0.005},
                                               {"rmsprop", 0.005}, {"sgd", 0.05}};
  const auto rate = rates.find(kind->name());
  auto* numbers = optimizer->GetReflection()->MutableMessage(optimizer, kind);
  numbers->GetReflection()->SetDouble(numbers,
                                      numbers->GetDescriptor()->FindFieldByName("learning_rate"),
                                      rate == rates.end() ? 0.02 : rate->second);
  // Its first steps are of the size of its root.
  if (optimizer->has_adadelta()) optimizer->mutable_adadelta()->set_epsilon(1e-4);
  // Moves the minimum.
  if (optimizer->has_adam_w()) optimizer->mutable_adam_w()->set_weight_decay(1e-3);
}

/// Of element i: curvature 0.5, 1 or 2, and where the minimum is, from -0.5 to 0.5.
float Curvature(std::uint64_t i) { return 0.5F * static_cast<float>(1 << (i % 3)); }
float Minimum(std::uint64_t i) { return 0.25F * (static_cast<float>(i * 7 % 5) - 2); }

/// One or several engines, each a ps, that have the shards of one run.
class Cluster {
 public:
  Cluster(const ShardEngineConfig& config, std::uint32_t count, ShardTerm term) : term_(term) {
    for (std::uint32_t i = 0; i < count; ++i) {
      engines_.push_back(std::make_unique<ShardEngine>(ShardEngineOptions{.threads = 1}));
      EXPECT_TRUE(engines_.back()->Configure(config).ok());
    }
  }
  void Begin() {
    for (ShardId shard = 0; shard < kShards; ++shard) {
      ASSERT_TRUE(ps_test::Assign(Of(shard), {{shard, term_, AssignSource::kInitial}}).ok());
    }
  }
  void Restore(ShardState state) {
    const ShardId shard = state.shard;
    const auto restored = ps_test::Assign(Of(shard), {{shard, term_, AssignSource::kRestore}},
                                          {{shard, std::move(state)}});
    ASSERT_TRUE(restored.ok()) << restored.status().ToString();
  }
  ShardState CopyOf(ShardId shard) {
    ShardState copy;
    const Status status = ps_test::Await<Status>([&](auto done) {
      Of(shard).Snapshot(
          {{{shard, term_}}, 0, "", ""}, [&copy](ShardState state) { copy = std::move(state); },
          done);
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return copy;
  }
  /// A batch touches partition s and rows of each shard s: even ones always, odd ones in two of
  /// three batches.
  void Step(std::uint32_t step) {
    for (ShardId shard = 0; shard < kShards; ++shard) StepShard(shard, step);
  }
  /// The farthest that an element is from its minimum.
  float Distance() {
    float distance = 0;
    for (ShardId shard = 0; shard < kShards; ++shard) {
      for (const float away : Pulled(shard, RowsOf(shard, 0)).distances) {
        distance = std::max(distance, std::abs(away));
      }
    }
    return distance;
  }
  Status Health() const {
    for (const auto& engine : engines_) PSTRAIN_RETURN_IF_ERROR(engine->health());
    return OkStatus();
  }

 private:
  struct Gradients {
    std::vector<float> dense;
    std::vector<float> rows;
    std::vector<float> distances;
  };
  static constexpr std::size_t kPartition = 9;

  ShardEngine& Of(ShardId shard) { return *engines_[shard % engines_.size()]; }
  static std::vector<std::uint64_t> RowsOf(ShardId shard, std::uint32_t step) {
    std::vector<std::uint64_t> rows = ps_test::KeysOf(shard, kShards, kRows);
    std::erase_if(rows, [step](std::uint64_t row) { return row % 2 == 1 && step % 3 == 1; });
    return rows;
  }
  Gradients Pulled(ShardId shard, const std::vector<std::uint64_t>& rows) {
    const auto pulled =
        ps_test::Pull(Of(shard), {{{shard, term_, {{0, shard}}, {{1, rows}}}}}).value().front();
    Gradients gradients;
    // An array begins at a multiple of 8 bytes.
    const std::size_t behind = AlignedBytes(kPartition * sizeof(float));
    const auto dense = pulled.At<float>(0, kPartition);
    const auto values = pulled.At<float>(behind, rows.size() * 4);
    for (std::size_t i = 0; i < dense.size(); ++i) {
      const std::uint64_t element = shard * kPartition + i;
      gradients.distances.push_back(dense[i] - Minimum(element));
      gradients.dense.push_back(Curvature(element) * gradients.distances.back());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t element = rows[i / 4] * 4 + i % 4;
      gradients.distances.push_back(values[i] - Minimum(element));
      gradients.rows.push_back(Curvature(element) * gradients.distances.back());
    }
    return gradients;
  }
  void StepShard(ShardId shard, std::uint32_t step) {
    const std::vector<std::uint64_t> rows = RowsOf(shard, step);
    const Gradients gradients = Pulled(shard, rows);
    PushRequest push;
    push.work_id = {0, step};
    push.records = 1;
    push.sections.push_back(
        {shard, term_, {{0, shard, gradients.dense}}, {{1, rows, gradients.rows}}});
    ASSERT_EQ(ps_test::Statuses(ps_test::Push(Of(shard), push)), std::vector{PushStatus::kApplied});
  }

  const ShardTerm term_;
  std::vector<std::unique_ptr<ShardEngine>> engines_;
};

ShardEngineConfig ConfigOf(Optimizer optimizer) {
  SetRate(&optimizer);
  ShardEngineConfig config = ps_test::Config(kShards, optimizer, /*partitions=*/kShards);
  config.batches_per_epoch = kSteps;
  return config;
}

TEST(OptimizerTraining, EveryOptimizer_FindsTheMinimumDenseAndOnRows) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    SCOPED_TRACE(name);
    Cluster cluster(ConfigOf(optimizer), 1, kTerm);
    cluster.Begin();
    EXPECT_GT(cluster.Distance(), 0.5F);
    for (std::uint32_t step = 0; step < kSteps; ++step) cluster.Step(step);
    EXPECT_LT(cluster.Distance(), 0.02F);
    EXPECT_TRUE(cluster.Health().ok()) << cluster.Health().ToString();
  }
}

TEST(OptimizerTraining, EveryOptimizer_GoesOnFromACheckpointOnAnotherNumberOfPs) {
  const TempDir directory;
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    SCOPED_TRACE(name);
    const ShardEngineConfig config = ConfigOf(optimizer);
    Cluster one(config, 1, kTerm);
    one.Begin();
    for (std::uint32_t step = 0; step < 7; ++step) one.Step(step);
    Cluster three(config, 3, kLater);
    for (ShardId shard = 0; shard < kShards; ++shard) {
      const auto written = WriteCheckpointShard(directory.path(), one.CopyOf(shard));
      ASSERT_TRUE(written.ok()) << written.status().ToString();
      auto read = ReadCheckpointShard(directory.path(), *written);
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      three.Restore(std::move(read).value());
    }
    for (std::uint32_t step = 7; step < 14; ++step) {
      one.Step(step);
      three.Step(step);
    }
    for (ShardId shard = 0; shard < kShards; ++shard) {
      const ShardState expected = one.CopyOf(shard);
      ShardState restored = three.CopyOf(shard);
      EXPECT_EQ(restored.dense, expected.dense);
      // Rows are numbered in another order: written, both are by key.
      restored.term = expected.term;
      EXPECT_EQ(SerializeCheckpointShard(restored), SerializeCheckpointShard(expected));
    }
  }
}

}  // namespace
}  // namespace pstrain
