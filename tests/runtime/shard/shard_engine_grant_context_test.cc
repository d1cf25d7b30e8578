#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

using ps_test::Assign;
using ps_test::AssignAll;
using ps_test::Config;
using ps_test::kBatches;
using ps_test::KeysOf;
using ps_test::Pull;
using ps_test::PulledSection;
using ps_test::Push;
using ps_test::Statuses;

constexpr std::uint32_t kShards = 2;
constexpr ShardTerm kTerm{3, 1};
constexpr GrantContext kAnyChief{};

class GrantContextTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.Configure(Config(kShards, ps_test::Sgd(0.5))).ok());
    ASSERT_TRUE(AssignAll(engine_, kShards, kTerm).ok());
  }
  /// Both shards get it; the gradient is of shard 0.
  std::vector<PushStatus> PushOf(WorkId work_id, GrantContext grant, ShardTerm term = kTerm) {
    PushRequest push;
    push.work_id = work_id;
    push.records = 10;
    push.grant = grant;
    push.sections.push_back({0, term, {{0, 0, gradient_}}, {}});
    push.sections.push_back({1, term, {}, {}});
    return Statuses(Push(engine_, push));
  }
  void PushToShard(ShardId shard, WorkId work_id) {
    PushRequest push;
    push.work_id = work_id;
    push.sections.push_back({shard, kTerm, {}, {}});
    ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  }
  std::vector<PulledSection> PullAs(GrantContext grant, ShardTerm term = kTerm) {
    PullRequest pull;
    pull.sections = {{0, term, {{0, 0}}, {}}, {1, term, {}, {{1, keys_}}}};
    pull.grant = grant;
    auto pulled = Pull(engine_, pull);
    EXPECT_TRUE(pulled.ok()) << pulled.status().ToString();
    return pulled.ok() ? *std::move(pulled) : std::vector<PulledSection>(kShards);
  }
  std::vector<ShardCopy> Copies() {
    auto copies =
        ps_test::Await<Result<std::vector<ShardCopy>>>([&](auto done) { engine_.Copies(done); });
    EXPECT_TRUE(copies.ok()) << copies.status().ToString();
    return *std::move(copies);
  }

  const std::vector<float> gradient_ = std::vector<float>(18, 1.0F);
  const std::vector<std::uint64_t> keys_ = KeysOf(1, kShards, 50);
  ShardEngine engine_{{.threads = 2}};
};

// The next chief of a program begins without work; a worker has some of the former one's in flight.
TEST_F(GrantContextTest, APush_OfAnEpochThatIsGone_IsOfAnotherChiefAndChangesNothing) {
  ShardEngineConfig config = Config(kShards, ps_test::Sgd(0.5));
  config.epochs = 1;
  ASSERT_TRUE(engine_.Configure(config).ok());
  const std::vector<float> before = PullAs(kAnyChief)[0].values;
  // Before the shards have their new terms, and for work without a chief's term, too.
  for (const GrantContext grant : {GrantContext{kTerm.chief_term, {}}, GrantContext{2, {}},
                                   GrantContext{0, {ps_test::kEpochs - 1, 0}}}) {
    EXPECT_EQ(PushOf({ps_test::kEpochs - 1, 1}, grant),
              std::vector(kShards, PushStatus::kOtherChief));
  }
  EXPECT_EQ(PushOf({ps_test::kEpochs - 1, 1}, kAnyChief, {2, 1}),
            std::vector(kShards, PushStatus::kNotOwner));
  EXPECT_EQ(PullAs(kAnyChief)[0].values, before);
  for (const ShardCopy& copy : Copies()) EXPECT_EQ(copy.applied.size(), 0U);
}

// A ps that was started since has never known that epoch.
TEST_F(GrantContextTest, APush_OfAnEpochThatThisPsNeverKnew_IsOfAnotherChiefWhereTheTermsSaySo) {
  const WorkId work_id{ps_test::kEpochs, 0};
  EXPECT_EQ(PushOf(work_id, {kTerm.chief_term - 1, {}}),
            std::vector(kShards, PushStatus::kOtherChief));
  EXPECT_TRUE(PushOf(work_id, {kTerm.chief_term, {}}).empty())
      << "its own chief would have said so";
  EXPECT_TRUE(PushOf(work_id, kAnyChief).empty());
}

TEST_F(GrantContextTest, APush_BeforeWhatItsWorkIdWaitsFor_IsEarlyAndChangesNothing) {
  const GrantContext second_phase{0, {0, 2}};
  ASSERT_EQ(PushOf({0, 1}, kAnyChief), std::vector(kShards, PushStatus::kApplied));
  const std::vector<float> before = PullAs(kAnyChief)[0].values;
  EXPECT_EQ(PushOf({0, 2}, second_phase), std::vector(kShards, PushStatus::kEarly)) << "no (0, 0)";
  EXPECT_EQ(PullAs(kAnyChief)[0].values, before);
  for (const ShardCopy& copy : Copies()) {
    EXPECT_EQ(copy.applied.size(), 1U);
    EXPECT_EQ(copy.examples, 10);
  }
  EXPECT_EQ(engine_.stats().pushes_applied, kShards);
  EXPECT_EQ(engine_.stats().duplicates, 0U);
  ASSERT_EQ(PushOf({0, 0}, kAnyChief), std::vector(kShards, PushStatus::kApplied));
  EXPECT_EQ(PushOf({0, 3}, second_phase), std::vector(kShards, PushStatus::kApplied))
      << "in a phase there is no order";
  EXPECT_EQ(PushOf({0, 2}, second_phase), std::vector(kShards, PushStatus::kApplied));
}

TEST_F(GrantContextTest, EachShardDecidesByItsOwnSet) {
  PushToShard(1, {0, 0});
  EXPECT_EQ(PushOf({0, 1}, {0, {0, 1}}), (std::vector{PushStatus::kEarly, PushStatus::kApplied}));
  EXPECT_EQ(PullAs({0, {0, 1}})[0].status, PullStatus::kEarly);
  EXPECT_EQ(PullAs({0, {0, 1}})[1].status, PullStatus::kOk);
}

TEST_F(GrantContextTest, APull_BeforeWhatItsWorkWaitsFor_IsEarlyWithoutValuesOrNewRows) {
  for (const PulledSection& section : PullAs({0, {0, 1}})) {
    EXPECT_EQ(section.status, PullStatus::kEarly);
    EXPECT_EQ(section.values, std::vector<float>(section.values.size()));
  }
  EXPECT_EQ(engine_.stats().rows, 0);
  ASSERT_EQ(PushOf({0, 0}, kAnyChief), std::vector(kShards, PushStatus::kApplied));
  for (const PulledSection& section : PullAs({0, {0, 1}})) {
    EXPECT_EQ(section.status, PullStatus::kOk);
  }
  EXPECT_EQ(engine_.stats().rows, static_cast<std::int64_t>(keys_.size()));
}

// An epoch is a chunk of work ids, and a phase may begin in any of them.
TEST_F(GrantContextTest, WhatIsWaitedFor_MayLieInSeveralEpochs) {
  const GrantContext grant{0, {2, 1}};
  for (std::uint32_t batch = 0; batch < 2 * kBatches; ++batch) {
    EXPECT_EQ(PullAs(grant)[0].status, PullStatus::kEarly) << batch;
    PushToShard(0, {batch / kBatches, batch % kBatches});
  }
  EXPECT_EQ(PullAs(grant)[0].status, PullStatus::kEarly);
  PushToShard(0, {2, 0});
  EXPECT_EQ(PullAs(grant)[0].status, PullStatus::kOk);
}

// The case that `after` is for: what a phase has waited for was committed, and a shard was restored
// from a checkpoint that lacks it.
TEST_F(GrantContextTest, WhenAShardIsRestored_ItIsEarlyUntilItHasWhatItLacks) {
  const ShardCopy old = Copies()[0];
  ASSERT_EQ(PushOf({0, 0}, kAnyChief), std::vector(kShards, PushStatus::kApplied));
  ASSERT_EQ(PullAs({0, {0, 1}})[0].status, PullStatus::kOk);
  const auto state = [&] {
    return ps_test::Await<Result<ShardState>>([&](auto done) { engine_.Freeze({0, kTerm}, done); });
  }();
  ASSERT_TRUE(state.ok());
  ShardState older = *state;
  older.applied = old.applied;
  const ShardTerm next{3, 2};
  const auto restore = [&](ShardTerm term, const ShardState& from) {
    return Assign(engine_, {{0, term, AssignSource::kRestore}}, {{0, from}}).ok();
  };
  ASSERT_TRUE(restore(next, older));
  EXPECT_EQ(PullAs({0, {0, 1}}, next)[0].status, PullStatus::kEarly);
  EXPECT_EQ(PushOf({0, 1}, {0, {0, 1}}, next)[0], PushStatus::kEarly);
  EXPECT_EQ(PushOf({0, 0}, kAnyChief, next)[0], PushStatus::kApplied);
  EXPECT_EQ(PushOf({0, 1}, {0, {0, 1}}, next)[0], PushStatus::kApplied);
}

TEST_F(GrantContextTest, AShardOfAnotherChief_RefusesWorkThatNamesItsChief) {
  const std::vector<float> before = PullAs(kAnyChief)[0].values;
  for (const std::uint64_t other : {2U, 4U}) {
    EXPECT_EQ(PushOf({0, 0}, {other, {}}), std::vector(kShards, PushStatus::kOtherChief));
    for (const PulledSection& section : PullAs({other, {}})) {
      EXPECT_EQ(section.status, PullStatus::kOtherChief);
      EXPECT_EQ(section.values, std::vector<float>(section.values.size()));
    }
  }
  EXPECT_EQ(PullAs(kAnyChief)[0].values, before);
  EXPECT_EQ(Copies()[0].applied.size(), 0U);
  EXPECT_EQ(PushOf({0, 0}, {kTerm.chief_term, {}}), std::vector(kShards, PushStatus::kApplied));
  EXPECT_EQ(PullAs({kTerm.chief_term, {}})[0].status, PullStatus::kOk);
}

// Built-in training: its grants live through a change of chief, and nobody names one.
TEST_F(GrantContextTest, WhenAnotherChiefKeepsAShard_OnlyWorkThatNamesTheFormerOneIsRefused) {
  const ShardTerm next{4, 1};
  for (const ShardId shard : {0U, 1U}) {
    ASSERT_TRUE(Assign(engine_, {{shard, next, AssignSource::kKeep}}).ok());
  }
  EXPECT_EQ(PushOf({0, 0}, {3, {}}, next), std::vector(kShards, PushStatus::kOtherChief));
  EXPECT_EQ(PushOf({0, 0}, {3, {}}, kTerm), std::vector(kShards, PushStatus::kNotOwner));
  EXPECT_EQ(PushOf({0, 0}, kAnyChief, next), std::vector(kShards, PushStatus::kApplied));
}

TEST_F(GrantContextTest, WorkThatCanNeverBeServed_IsInvalid) {
  PushRequest push;
  push.work_id = {1, 3};
  push.grant.after = {1, 4};
  EXPECT_EQ(
      Push(engine_, push).status(),
      InvalidArgumentError("push request: work id (1, 3) is to come after those below (1, 4), "
                           "itself among them"));
  PullRequest pull;
  pull.grant.after = {1, kBatches};
  EXPECT_EQ(
      Pull(engine_, pull).status(),
      InvalidArgumentError("pull request: after: there is no work id (1, 64); an epoch has 64 "
                           "batches"));
}

}  // namespace
}  // namespace pstrain
