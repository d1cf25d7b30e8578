#include "runtime/worker/push/push_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

using ::testing::Each;
using ::testing::Field;

/// Several threads, each with a work id of its own. The first push stays between the two ps until
/// the test lets it go.
class PushGroupTest : public TwoPsTest {
 protected:
  static constexpr std::uint32_t kWorks = 6;

  void SetUp() override {
    TwoPsTest::SetUp();
    if (HasFatalFailure()) return;
    PsClientOptions options;
    options.deadline = std::chrono::seconds(60);  // of the first push too
    options.between_pushes = [this] {
      if (!first_.exchange(false)) return;
      inside_ = true;
      WaitUntil([this] { return go_.load(); });
    };
    auto client = PsClient::Create(SampleVariables(), kShards, network_, std::move(options));
    ASSERT_TRUE(client.ok()) << client.status().ToString();
    client_ = std::move(client).value();
    for (std::uint32_t i = 0; i < kWorks; ++i) {
      access_.push_back(SamplePlan({i, i + 10, 500 + i}));
      routed_.push_back(client_->Route(access_[i]).value());
      updates_.push_back(SampleGradients(access_[i]));
      pushed_.push_back({{0, i}, 10});
    }
  }
  static void WaitUntil(const std::function<bool()>& condition) {
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
    while (!condition() && SteadyNow() < deadline) std::this_thread::yield();
    EXPECT_TRUE(condition());
  }
  void Push(PushGroup& group, std::uint32_t i, const Membership& membership) {
    outcomes_[i] = group.Push({pushed_[i], routed_[i], updates_[i], shards_[i]}, membership);
  }
  /// The first begins, and the others wait for it, in their order.
  void PushAll(PushGroup& group) {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < kWorks; ++i) {
      threads.emplace_back([this, &group, i] { Push(group, i, *memberships_[i]); });
      WaitUntil([&] { return i == 0 ? inside_.load() : group.in_flight() == i + 1; });
    }
    go_ = true;
  }
  void ExpectApplied(std::uint32_t i) {
    ASSERT_TRUE(outcomes_[i].ok()) << i << ": " << outcomes_[i].status().ToString();
    EXPECT_EQ(outcomes_[i]->shards.size(), kShards);
    EXPECT_THAT(outcomes_[i]->shards, Each(Field(&ShardPush::outcome, ShardOutcome::kApplied)));
    // Its rows are its own.
    const auto pulled = client_->Pull(routed_[i], membership_);
    ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
    EXPECT_EQ(pulled->values.rows, Expected(updates_[i], 1).rows) << i;
  }
  std::uint64_t Requests(std::size_t ps) const { return ps_[ps].handler.stats().requests; }

  const Membership membership_ = SampleMembership(kAddresses);
  std::vector<const Membership*> memberships_{kWorks, &membership_};
  std::vector<StepAccess> access_;
  std::vector<RoutedPlan> routed_;
  std::vector<StepUpdates> updates_;
  std::vector<PushedWork> pushed_;
  std::vector<std::vector<ShardId>> shards_{kWorks};
  std::vector<Result<PushOutcome>> outcomes_{kWorks, InternalError("nobody was told")};
  std::atomic<bool> first_ = true;
  std::atomic<bool> inside_ = false;
  std::atomic<bool> go_ = false;
};

TEST_F(PushGroupTest, WhoIsAlone_PushesImmediately) {
  go_ = true;
  PushGroup group(*client_);
  Push(group, 0, membership_);
  ExpectApplied(0);
  Push(group, 1, membership_);
  ExpectApplied(1);
}

TEST_F(PushGroupTest, WhoComesMeanwhile_SharesTheNextPushAndIsToldOfItsOwnWork) {
  shards_[2] = {1, 2};
  const std::vector<ShardId> had = {0, 3};
  PushGroup group(*client_);
  go_ = true;
  ASSERT_TRUE(client_->Push(pushed_[3], routed_[3], updates_[3], membership_, had).ok());
  go_ = false;
  first_ = true;
  inside_ = false;
  PushAll(group);
  for (const std::uint32_t i : {0U, 1U, 4U, 5U}) ExpectApplied(i);
  ASSERT_TRUE(outcomes_[2].ok());
  EXPECT_EQ(outcomes_[2]->shards.size(), 2U);
  ASSERT_TRUE(outcomes_[3].ok());
  for (const ShardPush& push : outcomes_[3]->shards) {
    const bool duplicate = push.shard == 0 || push.shard == 3;
    EXPECT_EQ(push.outcome, duplicate ? ShardOutcome::kDuplicate : ShardOutcome::kApplied);
  }
}

TEST_F(PushGroupTest, WhoComesMeanwhile_CostsNoMessageOfItsOwn) {
  PushGroup group(*client_);
  PushAll(group);
  EXPECT_EQ(Requests(0), 2U);
  EXPECT_EQ(Requests(1), 2U);
  EXPECT_EQ(group.in_flight(), 0U);
  for (std::uint32_t i = 0; i < kWorks; ++i) ExpectApplied(i);
}

// One does not fit the variables, a ps refuses the other: the others have none of their errors.
TEST_F(PushGroupTest, WhenSomeAreRefused_TheOthersAreApplied) {
  updates_[2].dense[0].values = ValueArray(std::vector<float>{1});
  pushed_[4].work_id = {1000, 4};
  PushGroup group(*client_);
  PushAll(group);
  for (const std::uint32_t i : {2U, 4U}) {
    EXPECT_EQ(outcomes_[i].status().code(), StatusCode::kInvalidArgument)
        << outcomes_[i].status().ToString();
  }
  EXPECT_NE(outcomes_[2].status().message(), outcomes_[4].status().message());
  for (const std::uint32_t i : {0U, 1U, 3U, 5U}) ExpectApplied(i);
}

// The ps that refuses one has the others in the same message; the other ps has taken them, and says
// so when they come again.
TEST_F(PushGroupTest, WhenAPsRefusesOne_TheOthersAreEverywhere) {
  pushed_[4].work_id = {1000, 4};
  shards_[4] = {1};
  PushGroup group(*client_);
  PushAll(group);
  EXPECT_EQ(outcomes_[4].status().code(), StatusCode::kInvalidArgument);
  for (const std::uint32_t i : {1U, 2U, 3U, 5U}) {
    ASSERT_TRUE(outcomes_[i].ok()) << outcomes_[i].status().ToString();
    for (const ShardPush& push : outcomes_[i]->shards) {
      const bool taken = push.shard % 2 == 0;
      EXPECT_EQ(push.outcome, taken ? ShardOutcome::kDuplicate : ShardOutcome::kApplied);
    }
  }
}

TEST_F(PushGroupTest, WhenAPsIsAway_EachHearsOfItsOwnShards) {
  servers_[1].reset();
  PushGroup group(*client_);
  PushAll(group);
  for (const Result<PushOutcome>& outcome : outcomes_) {
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
    EXPECT_EQ(outcome->Missing(), (std::vector<ShardId>{1, 3}));
  }
}

TEST_F(PushGroupTest, UnderAnotherMembership_NobodySharesAPush) {
  const Membership newer = membership_;
  memberships_[2] = memberships_[4] = &newer;
  PushGroup group(*client_);
  PushAll(group);
  EXPECT_EQ(Requests(0), 3U);
  for (std::uint32_t i = 0; i < kWorks; ++i) ExpectApplied(i);
}

TEST_F(PushGroupTest, BeyondTheLimits_SeveralPushesAreMade) {
  PushGroup by_works(*client_, {.works = 2});
  PushAll(by_works);
  // One, and five by two.
  EXPECT_EQ(Requests(0), 4U);
  for (std::uint32_t i = 0; i < kWorks; ++i) ExpectApplied(i);
}

TEST_F(PushGroupTest, WhatIsLarge_DoesNotWaitForOthers) {
  PushGroup group(*client_, {.bytes = 64});
  std::jthread first([&] {
    pushed_[0].non_finite = 10;  // sends nothing, so that it is small
    Push(group, 0, membership_);
  });
  WaitUntil([this] { return inside_.load(); });
  Push(group, 1, membership_);
  ExpectApplied(1);
  EXPECT_EQ(group.in_flight(), 1U);
  go_ = true;
}

}  // namespace
}  // namespace pstrain
