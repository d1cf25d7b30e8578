// Variables that are declared while shards are served.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/shard/catalog.h"
#include "runtime/shard/shard.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

using ps_test::Adagrad;
using ps_test::Assign;
using ps_test::AssignAll;
using ps_test::Await;
using ps_test::Config;
using ps_test::KeysOf;
using ps_test::Pull;
using ps_test::PulledSection;
using ps_test::Push;
using ps_test::Statuses;

constexpr std::uint32_t kShards = 2;
constexpr ShardTerm kTerm{3, 1};
constexpr VariableId kLate = 2;
constexpr VariableId kLateTable = 3;

/// Config, and what is declared later: a dense variable of 4 ones-to-be in shard 1, and a table.
ShardEngineConfig Grown() {
  ShardEngineConfig config = Config(kShards, Adagrad(0.5));
  VariableSpec late = config.variables[0];
  late.set_id(kLate);
  late.set_name("late");
  late.set_generation(1);
  late.clear_shape();
  late.add_shape(4);
  late.clear_partitions();
  late.add_partitions()->set_size(4);
  late.mutable_partitions(0)->set_shard(1);
  VariableSpec table = config.variables[1];
  table.set_id(kLateTable);
  table.set_name("late_table");
  table.set_generation(1);
  config.variables.push_back(late);
  config.variables.push_back(table);
  return config;
}

std::vector<std::uint64_t> LateKeys() {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; keys.size() < 3; ++key) {
    if (ShardOfRow(RouteOf("late_table"), key, kShards) == 1) keys.push_back(key);
  }
  return keys;
}

class ShardEngineGrowthTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.Configure(Config(kShards, Adagrad(0.5))).ok());
    ASSERT_TRUE(AssignAll(engine_, kShards, kTerm).ok());
  }
  Status Declare() { return engine_.Configure(Grown()); }

  /// A gradient of the first dense variable for shard 0, of the later ones for shard 1.
  std::vector<PushStatus> PushBoth(std::uint32_t batch) {
    PushRequest push;
    push.work_id = {0, batch};
    push.records = 10;
    push.sections.push_back({0, kTerm, {{0, 0, gradient_}}, {}});
    push.sections.push_back(
        {1, kTerm, {{kLate, 0, late_gradient_}}, {{kLateTable, keys_, rows_gradient_}}});
    return Statuses(Push(engine_, push));
  }
  std::vector<PulledSection> PullBoth(ShardEngine& engine) {
    PullRequest pull;
    pull.sections = {{0, kTerm, {{0, 0}}, {}}, {1, kTerm, {{kLate, 0}}, {{kLateTable, keys_}}}};
    auto pulled = Pull(engine, pull);
    EXPECT_TRUE(pulled.ok()) << pulled.status().ToString();
    return pulled.ok() ? *std::move(pulled) : std::vector<PulledSection>(kShards);
  }
  std::map<ShardId, ShardState> CopiesFor(const std::string& checkpoint = "",
                                          const std::string& base = "") {
    std::map<ShardId, ShardState> states;
    Mutex mutex;
    CopyOrder order{{{0, kTerm}, {1, kTerm}}, 0, checkpoint, base};
    const Status status = Await<Status>([&](auto done) {
      engine_.Snapshot(
          order,
          [&](ShardState state) {
            const MutexLock lock(mutex);
            states[state.shard] = std::move(state);
          },
          done);
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return states;
  }
  static Status Restore(ShardEngine& engine, const std::map<ShardId, ShardState>& states) {
    return Assign(engine, {{0, kTerm, AssignSource::kRestore}, {1, kTerm, AssignSource::kRestore}},
                  states)
        .status();
  }

  const std::vector<std::uint64_t> keys_ = LateKeys();
  const std::vector<float> gradient_ = std::vector<float>(18, 1.0F);
  const std::vector<float> late_gradient_ = std::vector<float>(4, 2.0F);
  const std::vector<float> rows_gradient_ = std::vector<float>(12, 0.5F);
  ShardEngine engine_{{.threads = 2}};
};

TEST_F(ShardEngineGrowthTest, WhatIsNotDeclaredYet_IsEarlyAndChangesNothing) {
  EXPECT_EQ(PushBoth(7), (std::vector{PushStatus::kApplied, PushStatus::kEarly}));
  const std::vector<PulledSection> pulled = PullBoth(engine_);
  EXPECT_EQ(pulled[0].status, PullStatus::kOk);
  EXPECT_EQ(pulled[1].status, PullStatus::kEarly);
  EXPECT_TRUE(pulled[1].values.empty());
  EXPECT_EQ(CopiesFor()[1].applied.size(), 0U);
  ASSERT_TRUE(Declare().ok());
  EXPECT_EQ(PushBoth(7), (std::vector{PushStatus::kDuplicate, PushStatus::kApplied}));
}

TEST_F(ShardEngineGrowthTest, WhatIsDeclaredLater_IsServedLikeWhatWasThereFromTheStart) {
  ASSERT_EQ(PushBoth(0)[0], PushStatus::kApplied);
  const std::vector<float> before = PullBoth(engine_)[0].values;
  const std::int64_t bytes = engine_.stats().state_bytes;
  ASSERT_TRUE(Declare().ok());
  ShardEngine whole({.threads = 2});
  ASSERT_TRUE(whole.Configure(Grown()).ok());
  ASSERT_TRUE(AssignAll(whole, kShards, kTerm).ok());
  EXPECT_EQ(PullBoth(engine_)[0].values, before);
  EXPECT_EQ(PullBoth(engine_)[1].values, PullBoth(whole)[1].values);
  EXPECT_GT(engine_.stats().state_bytes, bytes);
  EXPECT_EQ(PushBoth(1), std::vector(kShards, PushStatus::kApplied));
  EXPECT_NE(PullBoth(engine_)[1].values, PullBoth(whole)[1].values);
}

TEST_F(ShardEngineGrowthTest, WhatIsDeclared_CannotShrinkOrChange) {
  ASSERT_TRUE(Declare().ok());
  EXPECT_TRUE(Declare().ok());
  // A call of before, which comes late.
  EXPECT_TRUE(engine_.Configure(Config(kShards, Adagrad(0.5))).ok());
  EXPECT_EQ(PullBoth(engine_)[1].status, PullStatus::kOk);
  ShardEngineConfig other = Grown();
  other.variables[kLate].set_name("another");
  EXPECT_EQ(engine_.Configure(other).code(), StatusCode::kAlreadyExists);
  other = Config(kShards, Adagrad(0.25));
  EXPECT_EQ(engine_.Configure(other).code(), StatusCode::kAlreadyExists);
}

TEST_F(ShardEngineGrowthTest, ACopyOfBefore_IsRestoredWithInitialValues) {
  ASSERT_EQ(PushBoth(0)[0], PushStatus::kApplied);
  const auto before = CopiesFor();
  ASSERT_EQ(before.at(1).variables, 2U);
  ASSERT_TRUE(Declare().ok());
  const std::vector<PulledSection> initial = PullBoth(engine_);
  ASSERT_EQ(PushBoth(1), std::vector(kShards, PushStatus::kApplied));
  ShardEngine next({.threads = 2});
  ASSERT_TRUE(next.Configure(Grown()).ok());
  ASSERT_TRUE(Restore(next, before).ok());
  EXPECT_EQ(PullBoth(next)[0].values, initial[0].values);
  EXPECT_EQ(PullBoth(next)[1].values, initial[1].values);
}

// A ps that takes a shard over may hear of new variables later than its source.
TEST_F(ShardEngineGrowthTest, ACopyOfLater_IsNotTakenBeforeItsVariablesAreKnown) {
  ASSERT_TRUE(Declare().ok());
  ASSERT_EQ(PushBoth(1), std::vector(kShards, PushStatus::kApplied));
  const auto later = CopiesFor();
  ASSERT_EQ(later.at(1).variables, 4U);
  ShardEngine next({.threads = 2});
  ASSERT_TRUE(next.Configure(Config(kShards, Adagrad(0.5))).ok());
  EXPECT_EQ(Restore(next, later).code(), StatusCode::kAborted);
  ASSERT_TRUE(next.Configure(Grown()).ok());
  ASSERT_TRUE(Restore(next, later).ok());
  EXPECT_EQ(PullBoth(next)[1].values, PullBoth(engine_)[1].values);
}

// Also where nobody has asked for anything since: a checkpoint has all that it says it has.
TEST_F(ShardEngineGrowthTest, ACopyForACheckpoint_HasWhatWasDeclaredBefore) {
  static_cast<void>(CopiesFor("1-1"));
  ASSERT_TRUE(Declare().ok());
  auto next = CopiesFor("1-2", "1-1");
  EXPECT_TRUE(next[1].incremental);
  EXPECT_EQ(next[1].variables, 4U);
  ASSERT_EQ(next[1].tables.size(), 2U);
  EXPECT_EQ(next[1].dense.back().variable, kLate);
  ASSERT_EQ(PushBoth(1)[1], PushStatus::kApplied);
  next = CopiesFor("1-3", "1-2");
  EXPECT_EQ(next[1].tables[1].keys.size(), keys_.size()) << "rows that were written since";
  next = CopiesFor("1-4", "1-3");
  EXPECT_TRUE(next[1].tables[1].keys.empty());
}

TEST_F(ShardEngineGrowthTest, AShardOfAFrozenCopy_HasWhatWasDeclaredBefore) {
  ASSERT_TRUE(Declare().ok());
  const auto state =
      Await<Result<ShardState>>([&](auto done) { engine_.Freeze({1, kTerm}, done); });
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->variables, 4U);
}

TEST(ShardStateTest, WhenItSaysLessOrMoreThanItHas_IsRefused) {
  const ShardEngineConfig config = Grown();
  const auto catalog = *Catalog::Create(config.variables, kShards, ps_test::kBatches);
  const ShardState whole = Shard(catalog, 1, kTerm).Copy();
  ASSERT_TRUE(Shard::Restore(catalog, kTerm, whole).ok());
  for (const std::uint32_t variables : {0U, 1U, 2U, 3U}) {
    ShardState state = whole;
    state.variables = variables;
    EXPECT_EQ(Shard::Restore(catalog, kTerm, state).status().code(), StatusCode::kInvalidArgument)
        << variables;
  }
}

}  // namespace
}  // namespace pstrain
