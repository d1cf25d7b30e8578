#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kShards = 6;
constexpr ShardTerm kTerm{1, 1};
constexpr std::uint32_t kThreads = 6;
constexpr std::uint32_t kEpochs = 3;
constexpr std::uint32_t kRecords = 5;
constexpr std::uint64_t kWorkIds = kEpochs * ps_test::kBatches;

/// Gradients of one in every row of a shard: with SGD of rate 1, values tell how many were applied.
struct Gradients {
  Gradients() {
    for (ShardId shard = 0; shard < kShards; ++shard) {
      keys.push_back(ps_test::KeysOf(shard, kShards, 60));
      rows.emplace_back(keys.back().size() * 4, 1.0f);
    }
  }
  PushRequest Push(WorkId work_id) const {
    PushRequest push;
    push.work_id = work_id;
    push.records = kRecords;
    for (ShardId shard = 0; shard < kShards; ++shard) {
      PushSection& section = push.sections.emplace_back();
      section.shard = shard;
      section.term = kTerm;
      if (shard < 2) section.dense.push_back({0, shard, dense});
      section.tables.push_back({1, keys[shard], rows[shard]});
    }
    return push;
  }
  std::vector<std::vector<std::uint64_t>> keys;
  std::vector<std::vector<float>> rows;
  std::vector<float> dense = std::vector<float>(18, 1.0f);
};

ShardEngineConfig CountingConfig() {
  ShardEngineConfig config = ps_test::Config(kShards, ps_test::Sgd(1.0));
  for (VariableSpec& spec : config.variables) {
    spec.mutable_initializer()->set_kind(Initializer::ZEROS);
  }
  return config;
}

/// Every value is minus the number of work ids in the set: the copy is of one moment.
void ExpectConsistent(const ShardState& state) {
  const auto work_ids = static_cast<float>(state.applied.size());
  EXPECT_EQ(state.examples, static_cast<std::int64_t>(state.applied.size()) * kRecords);
  for (const DenseState& dense : state.dense) {
    for (const float value : dense.values.of<float>()) EXPECT_EQ(value, -work_ids);
  }
  for (const TableState& table : state.tables) {
    for (const float value : table.values.of<float>()) EXPECT_EQ(value, -work_ids);
  }
}

TEST(ShardEngine,
     Push_WhenManyThreadsPushTheSameWorkIds_AppliesEachOnceAndSnapshotsAreOfOneMoment) {
  const Gradients gradients;
  ShardEngine engine({.threads = 3, .queue_capacity = 4});
  ASSERT_TRUE(engine.Configure(CountingConfig()).ok());
  ASSERT_TRUE(ps_test::AssignAll(engine, kShards, kTerm).ok());
  std::vector<ShardInTerm> all;
  for (ShardId shard = 0; shard < kShards; ++shard) all.push_back({shard, kTerm});

  std::atomic<std::uint64_t> applied{0};
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint32_t> running{kThreads};
  std::vector<std::jthread> pushers;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    pushers.emplace_back([&, thread] {
      for (std::uint32_t i = 0; i < kEpochs * ps_test::kBatches; ++i) {
        // Neighbours push the same work ids in other orders.
        const std::uint32_t place = (i + thread / 2 * 17) % (kEpochs * ps_test::kBatches);
        const WorkId work_id{place / ps_test::kBatches, place % ps_test::kBatches};
        for (const PushStatus status :
             ps_test::Statuses(ps_test::Push(engine, gradients.Push(work_id)))) {
          ++(status == PushStatus::kApplied ? applied : duplicates);
        }
      }
      --running;
    });
  }
  std::uint64_t snapshots = 0;
  while (running > 0 || snapshots == 0) {
    const Status status = ps_test::Await<Status>([&](auto done) {
      engine.Snapshot({all, 0, "", ""}, [](ShardState state) { ExpectConsistent(state); }, done);
    });
    ASSERT_TRUE(status.ok());
    ++snapshots;
  }
  pushers.clear();

  EXPECT_EQ(applied, kWorkIds * kShards);
  EXPECT_EQ(duplicates, kWorkIds * kShards * (kThreads - 1));
  EXPECT_EQ(engine.stats().pushes_applied, kWorkIds * kShards);
  EXPECT_EQ(engine.stats().queue_length, 0);
  const Status status = ps_test::Await<Status>([&](auto done) {
    engine.Snapshot(
        {all, kEpochs, "", ""},
        [](ShardState state) {
          ExpectConsistent(state);
          EXPECT_EQ(state.applied.size(), kWorkIds);
          EXPECT_EQ(state.applied.low_water(), kEpochs);
        },
        done);
  });
  EXPECT_TRUE(status.ok());
}

TEST(ShardEngine, Snapshot_WhenATermIsAnother_IsAbortedAndNamesTheShard) {
  ShardEngine engine({.threads = 2});
  ASSERT_TRUE(engine.Configure(CountingConfig()).ok());
  ASSERT_TRUE(ps_test::AssignAll(engine, kShards, kTerm).ok());
  std::atomic<int> copied{0};
  const Status status = ps_test::Await<Status>([&](auto done) {
    engine.Snapshot({{{0, kTerm}, {1, {1, 2}}}, 0, "", ""}, [&](ShardState) { ++copied; }, done);
  });
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_NE(status.message().find("shard 1"), std::string::npos);
  EXPECT_EQ(copied, 1);
}

}  // namespace
}  // namespace pstrain
