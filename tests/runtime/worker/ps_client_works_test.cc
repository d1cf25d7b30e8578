#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/rpc/control_ids.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

using ::testing::Each;
using ::testing::Field;

/// Several pieces of work in one call.
class PsClientWorksTest : public TwoPsTest {
 protected:
  static constexpr std::uint32_t kWorks = 5;

  void SetUp() override {
    TwoPsTest::SetUp();
    if (HasFatalFailure()) return;
    for (std::uint32_t i = 0; i < kWorks; ++i) {
      access_.push_back(SamplePlan({i, i + 10, 500 + i}));
      routed_.push_back(client_->Route(access_[i]).value());
      updates_.push_back(SampleGradients(access_[i]));
      pushed_.push_back({{0, i}, 10});
    }
  }
  std::vector<WorkToPush> Works() const {
    std::vector<WorkToPush> works;
    for (std::uint32_t i = 0; i < kWorks; ++i) {
      works.push_back({pushed_[i], routed_[i], updates_[i]});
    }
    return works;
  }
  std::uint64_t Requests() const {
    return ps_[0].handler.stats().requests + ps_[1].handler.stats().requests;
  }

  Membership membership_ = SampleMembership(kAddresses);
  std::vector<StepAccess> access_;
  std::vector<RoutedPlan> routed_;
  std::vector<StepUpdates> updates_;
  std::vector<PushedWork> pushed_;
};

TEST_F(PsClientWorksTest, PushAndPull_GoOutInOneMessageToEachPs) {
  const std::vector<WorkToPush> works = Works();
  const auto pushed = client_->Push(works, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_EQ(Requests(), 2U);
  ASSERT_EQ(pushed->size(), kWorks);
  for (const PushOutcome& outcome : *pushed) {
    EXPECT_EQ(outcome.shards.size(), kShards);
    EXPECT_THAT(outcome.shards, Each(Field(&ShardPush::outcome, ShardOutcome::kApplied)));
    EXPECT_EQ(outcome.updates.size(), 2U);
  }
  std::vector<WorkToPull> reads;
  for (const RoutedPlan& plan : routed_) reads.push_back({plan});
  const auto pulled = client_->Pull(reads, membership_);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  EXPECT_EQ(Requests(), 4U);
  ASSERT_EQ(pulled->size(), kWorks);
  for (std::uint32_t i = 0; i < kWorks; ++i) {
    EXPECT_EQ(pulled->at(i).values.dense, Expected(updates_[i], kWorks).dense);
    EXPECT_EQ(pulled->at(i).values.rows, Expected(updates_[i], 1).rows);
    // The same as alone.
    EXPECT_EQ(client_->Pull(routed_[i], membership_)->values.rows, pulled->at(i).values.rows);
  }
}

TEST_F(PsClientWorksTest, SmallWorkTogether_IsFewerBytesThanAlone) {
  const std::vector<WorkToPush> works = Works();
  ASSERT_TRUE(client_->Push(works, membership_).ok());
  const std::uint64_t together = client_->stats().bytes_sent;
  for (PushedWork& pushed : pushed_) pushed.work_id.epoch = 1;
  for (const WorkToPush& work : Works()) {
    ASSERT_TRUE(client_->Push({&work, 1}, membership_).ok());
  }
  EXPECT_LT(together, (client_->stats().bytes_sent - together) * 9 / 10);
}

TEST_F(PsClientWorksTest, WhenSomeWorkGoesToFewShards_TheOthersOutcomesAreTheirOwn) {
  const std::vector<ShardId> few = {1, 2};
  ASSERT_TRUE(client_->Push(pushed_[1], routed_[1], updates_[1], membership_, few).ok());
  std::vector<WorkToPush> works = {
      {pushed_[0], routed_[0], updates_[0], few},
      {pushed_[1], routed_[1], updates_[1]},
      {pushed_[2], routed_[2], updates_[2], few},
  };
  const auto pushed = client_->Push(works, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_EQ(pushed->at(0).shards.size(), 2U);
  EXPECT_EQ(pushed->at(2).shards.size(), 2U);
  ASSERT_EQ(pushed->at(1).shards.size(), kShards);
  for (const ShardPush& push : pushed->at(1).shards) {
    const bool had = push.shard == 1 || push.shard == 2;
    EXPECT_EQ(push.outcome, had ? ShardOutcome::kDuplicate : ShardOutcome::kApplied) << push.shard;
  }
}

TEST_F(PsClientWorksTest, WhenWorkIsEarlyOrOfAnotherChief_ThatWorkAloneHasNoValues) {
  const std::vector<WorkToPull> works = {
      {routed_[0], {1, {}}}, {routed_[1], {1, {0, 1}}}, {routed_[2], {2, {}}}};
  const auto pulled = client_->Pull(works, membership_);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  EXPECT_EQ(pulled->at(0).answer, PullAnswer::kValues);
  EXPECT_FALSE(pulled->at(0).values.dense.empty());
  EXPECT_EQ(pulled->at(1).answer, PullAnswer::kEarly);
  EXPECT_TRUE(pulled->at(1).values.dense.empty());
  EXPECT_EQ(pulled->at(2).answer, PullAnswer::kOtherChief);
}

TEST_F(PsClientWorksTest, WhenAPsIsAway_ThePushesAreUnreachableThereAlone) {
  servers_[1].reset();
  const std::vector<WorkToPush> works = Works();
  const auto pushed = client_->Push(works, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  for (const PushOutcome& outcome : *pushed) {
    for (const ShardPush& push : outcome.shards) {
      EXPECT_EQ(push.outcome,
                push.shard % 2 == 0 ? ShardOutcome::kApplied : ShardOutcome::kUnreachable);
    }
  }
}

}  // namespace
}  // namespace pstrain
