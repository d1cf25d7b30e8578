#include "runtime/worker/push/push_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ShardTerm kTerm{1, 7};

PushOutcome Outcome(std::vector<ShardOutcome> shards, UpdateCounts updates) {
  PushOutcome outcome;
  for (ShardId shard = 0; shard < shards.size(); ++shard) {
    outcome.shards.push_back({shard, kTerm, shards[shard]});
  }
  outcome.updates = std::move(updates);
  return outcome;
}

TEST(PushProgress, WhenAnAttemptFails_IsNotTakenForAFreshGradient) {
  PushProgress progress({});
  progress.Add(Outcome({ShardOutcome::kUnreachable, ShardOutcome::kNotOwner}, {}));
  EXPECT_FALSE(progress.done());
  EXPECT_FALSE(progress.Staleness({{0, 10}, {1, 10}}).has_value());
  EXPECT_THAT(progress.wanted(), ElementsAre(0, 1));
}

TEST(PushProgress, WhenItTakesSeveralAttempts_TheFirstAnswerOfEachPsCounts) {
  const UpdateCounts pull = {{0, 10}, {1, 10}};
  PushProgress progress({});
  progress.Add(Outcome({ShardOutcome::kApplied, ShardOutcome::kUnreachable}, {{0, 13}}));
  EXPECT_EQ(progress.Staleness(pull), 2u);
  PushOutcome second;
  second.shards = {{1, kTerm, ShardOutcome::kApplied}};
  second.updates = {{0, 90}, {1, 16}};
  progress.Add(second);
  EXPECT_TRUE(progress.done());
  EXPECT_EQ(progress.Staleness(pull), 5u);
  EXPECT_THAT(progress.have(), ElementsAre(ShardInTerm{0, kTerm}, ShardInTerm{1, kTerm}));
  EXPECT_THAT(progress.wanted(), IsEmpty());
}

TEST(PushProgress, WhenEveryShardHadTheBatch_SaysNothingOfItsAge) {
  PushProgress progress({0, 1});
  progress.Add(Outcome({ShardOutcome::kDuplicate, ShardOutcome::kDuplicate}, {{0, 20}}));
  EXPECT_TRUE(progress.done());
  EXPECT_EQ(progress.have().size(), 2u);
  EXPECT_FALSE(progress.Staleness({{0, 10}}).has_value());
}

TEST(PushProgress, WhenShardsAreEarly_SaysWhichAndUnderWhichTerm) {
  PushProgress progress({});
  progress.Add(Outcome({ShardOutcome::kEarly, ShardOutcome::kApplied, ShardOutcome::kUnreachable},
                       {{0, 1}}));
  EXPECT_TRUE(progress.refused());
  EXPECT_FALSE(progress.done());
  EXPECT_THAT(progress.early(), ElementsAre(ShardInTerm{0, kTerm}));
  EXPECT_THAT(progress.have(), ElementsAre(ShardInTerm{1, kTerm}));
}

}  // namespace
}  // namespace pstrain
