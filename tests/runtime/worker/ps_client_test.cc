#include "runtime/worker/ps_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "base/manual_clock.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/worker/push/push_progress.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PsClientTest : public TwoPsTest {
 protected:
  void SetUp() override {
    TwoPsTest::SetUp();
    if (HasFatalFailure()) return;
    routed_ = client_->Route(plan_).value();
  }

  Membership membership_ = SampleMembership(kAddresses);
  RoutedPlan routed_;  // of plan_
  const StepAccess plan_ = SamplePlan({0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 999});
};

TEST_F(PsClientTest, PullAfterPush_GivesWhatWasPushedFromBothPs) {
  const StepUpdates gradients = SampleGradients(plan_);
  const auto pushed = client_->Push({{0, 1}, 10}, routed_, gradients, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  ASSERT_EQ(pushed->shards.size(), kShards);
  for (const ShardPush& push : pushed->shards) {
    EXPECT_EQ(push.outcome, ShardOutcome::kApplied);
    EXPECT_EQ(push.term, kSampleTerm);
  }
  const auto values = client_->Pull(routed_, membership_);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(values->values.dense, Expected(gradients, 1).dense);
  EXPECT_EQ(values->values.rows, Expected(gradients, 1).rows);
  EXPECT_EQ(client_->stats().rows_pushed, plan_.requests[0].rows.size());
  EXPECT_EQ(client_->stats().rows_pulled, plan_.requests[0].rows.size());
  EXPECT_GT(client_->stats().bytes_sent, 0u);
  EXPECT_EQ(client_->stats().bytes_sent,
            ps_[0].handler.stats().bytes_received + ps_[1].handler.stats().bytes_received);
  EXPECT_EQ(client_->stats().bytes_received,
            ps_[0].handler.stats().bytes_sent + ps_[1].handler.stats().bytes_sent);
}

TEST_F(PsClientTest, WhenOthersPushInBetween_StalenessCountsThem) {
  const StepUpdates gradients = SampleGradients(plan_);
  const auto pulled = client_->Pull(routed_, membership_);
  ASSERT_TRUE(pulled.ok());
  for (std::uint32_t batch = 0; batch < 3; ++batch) {
    ASSERT_TRUE(client_->Push({{1, batch}, 10}, routed_, gradients, membership_).ok());
  }
  const auto pushed = client_->Push({{0, 1}, 10}, routed_, gradients, membership_);
  ASSERT_TRUE(pushed.ok());
  EXPECT_EQ(StalenessOf(pulled->updates, pushed->updates), 3u);
  EXPECT_EQ(StalenessOf({}, pushed->updates), 0u);
  EXPECT_EQ(StalenessOf({{0, 100}}, {{0, 2}}), 0u);
}

TEST_F(PsClientTest, Push_WhenInOrder_ReachesTheSecondPsAfterTheFirstHasApplied) {
  int calls = 0;
  PsClientOptions options;
  options.between_pushes = [&] {
    ++calls;
    EXPECT_EQ(ps_[0].engine->stats().pushes_applied, 2u);
    EXPECT_EQ(ps_[1].engine->stats().pushes_applied, 0u);
  };
  const auto client = PsClient::Create(SampleVariables(), kShards, network_, options);
  ASSERT_TRUE(client.ok()) << client.status().ToString();
  const auto pushed = (*client)->Push({{0, 1}, 10}, routed_, SampleGradients(plan_), membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_THAT(pushed->Missing(), IsEmpty());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(ps_[1].engine->stats().pushes_applied, 2u);
}

TEST_F(PsClientTest, PushTwice_IsADuplicateEverywhereAndChangesNothing) {
  const StepUpdates gradients = SampleGradients(plan_);
  ASSERT_TRUE(client_->Push({{0, 1}, 10}, routed_, gradients, membership_).ok());
  const auto again = client_->Push({{0, 1}, 10}, routed_, gradients, membership_);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  for (const ShardPush& push : again->shards) EXPECT_EQ(push.outcome, ShardOutcome::kDuplicate);
  EXPECT_EQ(client_->Pull(routed_, membership_)->values.dense, Expected(gradients, 1).dense);
}

TEST_F(PsClientTest, PushOfAnEmptyBatch_ReachesEveryShard) {
  StepAccess plan = SamplePlan({});
  const StepUpdates gradients;
  const auto pushed =
      client_->Push({{0, 2}, 5}, client_->Route(plan).value(), gradients, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_THAT(pushed->Missing(), IsEmpty());
}

// A worker leaves a batch out and is lost when the first ps has heard of it; the next one computes
// the batch from newer values, and its result is finite.
TEST_F(PsClientTest, WhenABatchIsLeftOutHalfAndThenComputedAgain_EveryShardHasItsGradient) {
  const PushedWork left_out{{0, 1}, 10, 3, 7};
  const std::vector<ShardId> of_first_ps = {0, 2};
  ASSERT_TRUE(client_->Push(left_out, routed_, {}, membership_, of_first_ps).ok());
  const StepUpdates gradients = SampleGradients(plan_);
  const auto again = client_->Push({{0, 1}, 10, 3}, routed_, gradients, membership_);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  for (const ShardPush& push : again->shards) EXPECT_EQ(push.outcome, ShardOutcome::kApplied);
  const auto values = client_->Pull(routed_, membership_);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(values->values.dense, Expected(gradients, 1).dense);
  EXPECT_EQ(values->values.rows, Expected(gradients, 1).rows);
}

// The other way round: the one that is lost had a gradient, the next one is to leave the batch out.
TEST_F(PsClientTest, WhenABatchIsPushedHalfAndThenLeftOut_IsToldSo) {
  const std::vector<ShardId> of_first_ps = {0, 2};
  ASSERT_TRUE(
      client_->Push({{0, 1}, 10, 3}, routed_, SampleGradients(plan_), membership_, of_first_ps)
          .ok());
  const auto left_out = client_->Push({{0, 1}, 10, 3, 7}, routed_, {}, membership_);
  ASSERT_TRUE(left_out.ok()) << left_out.status().ToString();
  EXPECT_EQ(left_out->shards[0].outcome, ShardOutcome::kHasGradient);
  EXPECT_EQ(left_out->shards[1].outcome, ShardOutcome::kApplied);
  PushProgress progress({});
  progress.Add(*left_out);
  EXPECT_TRUE(progress.has_gradient());
}

TEST_F(PsClientTest, PushOfABatchThatIsLeftOut_ReachesEveryShardAndChangesNoValue) {
  StepUpdates gradients = SampleGradients(plan_);
  gradients.dense[0].values.of<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const PushedWork batch{{0, 1}, 10, 3, 7};
  const auto pushed = client_->Push(batch, routed_, gradients, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  ASSERT_EQ(pushed->shards.size(), kShards);
  for (const ShardPush& push : pushed->shards) EXPECT_EQ(push.outcome, ShardOutcome::kApplied);
  const auto values = client_->Pull(routed_, membership_);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(values->values.dense, Expected(SampleGradients(plan_), 0).dense);
  EXPECT_EQ(client_->stats().rows_pushed, 0u);
  EXPECT_TRUE(ps_[0].engine->health().ok());
}

TEST_F(PsClientTest, WhenAPsIsAwayOrDoesNotOwn_SaysSoUntilItAnswers) {
  const ManualClock clock;
  PsProblems problems(clock);
  PsClientOptions options;
  options.problems = &problems;
  const auto client = PsClient::Create(SampleVariables(), kShards, network_, options);
  ASSERT_TRUE(client.ok());
  const auto poll = [&] {
    PollWorkerRequest request;
    problems.Describe(&request);
    return request;
  };
  const StepUpdates gradients = SampleGradients(plan_);
  servers_[1].reset();
  ASSERT_TRUE((*client)->Push({{0, 1}, 10}, routed_, gradients, membership_).ok());
  ASSERT_EQ(poll().unreachable_size(), 1);
  EXPECT_EQ(poll().unreachable(0).ps(), 1u);
  EXPECT_EQ(poll().disowned_size(), 0);
  Serve(1, "ps1:2");
  membership_.mutable_ps(1)->set_address("ps1:2");
  membership_.mutable_ps(1)->set_incarnation(2);
  membership_.mutable_shards(3)->mutable_term()->set_counter(8);
  EXPECT_FALSE((*client)->Pull(routed_, membership_).ok());
  EXPECT_EQ(poll().unreachable_size(), 0);
  ASSERT_EQ(poll().disowned_size(), 1);
  EXPECT_EQ(FromWire(poll().disowned(0)), (ShardInTerm{3, {1, 8}}));
  membership_.mutable_shards(3)->mutable_term()->set_counter(7);
  ASSERT_TRUE((*client)->Push({{0, 2}, 10}, routed_, gradients, membership_).ok());
  EXPECT_EQ(poll().disowned_size(), 0);
}

TEST_F(PsClientTest, WhenOnePsIsAway_TheOthersOutcomesStandAndOnlyTheRestIsPushedAgain) {
  const StepUpdates gradients = SampleGradients(plan_);
  servers_[1].reset();
  const auto first = client_->Push({{0, 1}, 10}, routed_, gradients, membership_);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_THAT(first->Missing(), ElementsAre(1, 3));
  EXPECT_EQ(first->shards[0].outcome, ShardOutcome::kApplied);
  EXPECT_EQ(first->shards[1].outcome, ShardOutcome::kUnreachable);
  EXPECT_EQ(client_->Pull(routed_, membership_).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(client_->stats().failed_requests, 2u);

  // The next life of ps 1, elsewhere, under another incarnation.
  Serve(1, "ps1:2");
  membership_.mutable_ps(1)->set_address("ps1:2");
  membership_.mutable_ps(1)->set_incarnation(2);
  const auto second =
      client_->Push({{0, 1}, 10}, routed_, gradients, membership_, first->Missing());
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  ASSERT_EQ(second->shards.size(), 2u);
  EXPECT_EQ(second->shards[0].shard, 1u);
  EXPECT_THAT(second->Missing(), IsEmpty());
  const auto values = client_->Pull(routed_, membership_);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(values->values.dense, Expected(gradients, 1).dense);
  EXPECT_EQ(values->values.rows, Expected(gradients, 1).rows);
}

TEST_F(PsClientTest, WhenATermIsOld_IsNotOwner) {
  membership_.mutable_shards(3)->mutable_term()->set_counter(6);
  const auto pushed = client_->Push({{0, 1}, 1}, routed_, SampleGradients(plan_), membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_THAT(pushed->Missing(), ElementsAre(3));
  EXPECT_EQ(pushed->shards[3].outcome, ShardOutcome::kNotOwner);
  EXPECT_EQ(client_->Pull(routed_, membership_).status().code(), StatusCode::kAborted);
}

TEST_F(PsClientTest, WhenOnePsLacksWhatTheWorkWaitsFor_ItIsEarlyThereAlone) {
  const ManualClock clock;
  PsProblems problems(clock);
  PsClientOptions options;
  options.problems = &problems;
  const auto client = PsClient::Create(SampleVariables(), kShards, network_, options).value();
  const StepUpdates gradients = SampleGradients(plan_);
  const std::vector<ShardId> of_first_ps = {0, 2};
  ASSERT_TRUE(client->Push({{0, 0}, 10}, routed_, gradients, membership_, of_first_ps).ok());
  const GrantContext grant{1, {0, 1}};
  const auto pulled = client->Pull(routed_, membership_, grant);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  EXPECT_EQ(pulled->answer, PullAnswer::kEarly);
  EXPECT_EQ(pulled->shard, (ShardInTerm{1, kSampleTerm}));
  EXPECT_THAT(pulled->values.dense, IsEmpty());
  const PushedWork batch{.work_id = {0, 1}, .records = 10, .grant = grant};
  const auto pushed = client->Push(batch, routed_, gradients, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_EQ(pushed->shards[1].outcome, ShardOutcome::kEarly);
  EXPECT_EQ(pushed->shards[3].outcome, ShardOutcome::kEarly);
  EXPECT_THAT(pushed->Missing(), IsEmpty()) << "it is not to be pushed again";
  PushProgress progress({});
  progress.Add(*pushed);
  EXPECT_TRUE(progress.refused());
  EXPECT_FALSE(progress.done());
  EXPECT_THAT(progress.have(),
              ElementsAre(ShardInTerm{0, kSampleTerm}, ShardInTerm{2, kSampleTerm}));
  PollWorkerRequest poll;
  problems.Describe(&poll);
  EXPECT_EQ(poll.disowned_size(), 0) << "the owner has answered";

  ASSERT_TRUE(client->Push({{0, 0}, 10}, routed_, gradients, membership_).ok());
  ASSERT_TRUE(client->Push(batch, routed_, gradients, membership_).ok());
  const auto values = client->Pull(routed_, membership_, grant);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(values->answer, PullAnswer::kValues);
  EXPECT_EQ(values->values.dense, Expected(gradients, 2).dense);
  EXPECT_EQ(values->values.rows, Expected(gradients, 2).rows);
}

TEST_F(PsClientTest, WhenTheWorkIsOfAnotherChief_EveryShardRefusesIt) {
  const StepUpdates gradients = SampleGradients(plan_);
  const GrantContext grant{2, {}};
  const auto pulled = client_->Pull(routed_, membership_, grant);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  EXPECT_EQ(pulled->answer, PullAnswer::kOtherChief);
  const PushedWork batch{.work_id = {0, 0}, .records = 10, .grant = grant};
  const auto pushed = client_->Push(batch, routed_, gradients, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  for (const ShardPush& push : pushed->shards) EXPECT_EQ(push.outcome, ShardOutcome::kOtherChief);
  PushProgress progress({});
  progress.Add(*pushed);
  EXPECT_TRUE(progress.refused());
  EXPECT_THAT(progress.have(), IsEmpty());
}

TEST_F(PsClientTest, WhenAShardHasNoOwner_IsNotOwnerAndNotPulled) {
  membership_.mutable_shards(2)->set_active(false);
  const auto pushed = client_->Push({{0, 1}, 1}, routed_, SampleGradients(plan_), membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_THAT(pushed->Missing(), ElementsAre(2));
  EXPECT_EQ(client_->Pull(routed_, membership_).status().code(), StatusCode::kAborted);
}

TEST_F(PsClientTest, WhenTheGradientsDoNotFit_IsInvalidAndSendsNothing) {
  StepUpdates gradients = SampleGradients(plan_);
  gradients.rows[0].values.of<float>().pop_back();
  const auto pushed = client_->Push({{0, 1}, 1}, routed_, gradients, membership_);
  EXPECT_EQ(pushed.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(client_->stats().bytes_sent, 0u);
}

TEST_F(PsClientTest, WhenAnUpdateIsOfAnotherVariableOrDType_IsInvalidAndSendsNothing) {
  const auto refused = [this](const StepUpdates& updates) {
    return client_->Push({{0, 1}, 1}, routed_, updates, membership_).status().code() ==
           StatusCode::kInvalidArgument;
  };
  StepUpdates updates;
  updates.dense.push_back({kTable, std::vector<float>(12)});
  EXPECT_TRUE(refused(updates)) << "not dense";
  updates.dense[0] = {VariableId{9}, std::vector<float>(12)};
  EXPECT_TRUE(refused(updates)) << "no such variable";
  updates.dense[0] = {kDense, std::vector<double>(12)};
  EXPECT_TRUE(refused(updates)) << "float64";
  updates.dense.clear();
  updates.rows.push_back({1, std::vector<float>(3)});
  EXPECT_TRUE(refused(updates)) << "rows that are not read";
  EXPECT_EQ(client_->stats().bytes_sent, 0u);
}

// An assign and an add to one variable: a push brings both, in their order.
TEST_F(PsClientTest, PushOfOtherOps_CarriesThemOutInTheirOrder) {
  StepUpdates updates;
  updates.dense.push_back({kDense, std::vector<float>(12, 4.0F), UpdateOp::kAssign});
  updates.dense.push_back({kDense, std::vector<float>(12, 0.5F), UpdateOp::kAdd});
  updates.rows.push_back(
      {0, std::vector<float>(3 * plan_.requests[0].rows.size(), -1.0F), UpdateOp::kMin});
  const auto pushed = client_->Push({{0, 1}, 1}, routed_, updates, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  const auto pulled = client_->Pull(routed_, membership_);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  EXPECT_EQ(pulled->values.dense[kDense], ValueArray(std::vector<float>(12, 4.5F)));
  EXPECT_EQ(pulled->values.rows[0], updates.rows[0].values);
}

TEST_F(PsClientTest, WhenTheMembershipIsEmpty_IsAborted) {
  EXPECT_EQ(client_->Pull(routed_, Membership()).status().code(), StatusCode::kAborted);
}

TEST_F(PsClientTest, WhenTwoThreadsPushAndPull_EveryPushCountsOnce) {
  constexpr std::uint32_t kPushes = 40;
  const StepUpdates gradients = SampleGradients(plan_);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kPushes; ++i) {
        // Both threads push every work id of their own epoch twice.
        for (int again = 0; again < 2; ++again) {
          EXPECT_TRUE(client_->Push({{t, i}, 1}, routed_, gradients, membership_).ok());
        }
        EXPECT_TRUE(client_->Pull(routed_, membership_).ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(client_->Pull(routed_, membership_)->values.dense,
            Expected(gradients, 2 * kPushes).dense);
}

TEST_F(PsClientTest, WhenAStepReadsNoDenseVariable_APullBringsItsRowsAlone) {
  const StepUpdates gradients = SampleGradients(plan_);
  ASSERT_TRUE(client_->Push({{0, 1}, 10}, routed_, gradients, membership_).ok());
  StepAccess plan = plan_;
  plan.dense.clear();
  const RoutedPlan rows_only = client_->Route(plan).value();
  const std::uint64_t before = client_->stats().bytes_received;
  const auto pulled = client_->Pull(rows_only, membership_);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  const std::uint64_t without = client_->stats().bytes_received - before;
  EXPECT_EQ(pulled->values.rows, Expected(gradients, 1).rows);
  EXPECT_THAT(pulled->values.dense, IsEmpty());
  ASSERT_TRUE(client_->Pull(routed_, membership_).ok());
  const std::uint64_t with = client_->stats().bytes_received - before - without;
  EXPECT_EQ(with - without, 12 * sizeof(float)) << "the dense variable, and nothing else";
}

TEST_F(PsClientTest, WhenAStepReadsNothing_NoPsIsAsked) {
  StepAccess plan = SamplePlan({});
  plan.dense.clear();
  const auto pulled = client_->Pull(client_->Route(plan).value(), membership_);
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  EXPECT_EQ(client_->stats().bytes_sent, 0u);
}

TEST_F(PsClientTest, WhenAVariableIsNotRead_ItsGradientIsAppliedAllTheSame) {
  StepAccess plan = plan_;
  plan.dense.clear();
  const StepUpdates gradients = SampleGradients(plan_);
  const auto pushed =
      client_->Push({{0, 1}, 10}, client_->Route(plan).value(), gradients, membership_);
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_EQ(client_->Pull(routed_, membership_)->values.dense, Expected(gradients, 1).dense);
}

TEST_F(PsClientTest, Route_OfATableAmongTheDenseOnes_IsInvalid) {
  for (const VariableId variable : {kTable, VariableId{2}}) {
    StepAccess plan;
    plan.dense = {variable};
    EXPECT_EQ(client_->Route(plan).status().code(), StatusCode::kInvalidArgument) << variable;
  }
}

TEST_F(PsClientTest, Route_OfDenseVariablesThatAreNotAscending_IsInvalid) {
  StepAccess plan;
  plan.dense = {kDense, kDense};
  const Status status = client_->Route(plan).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("variable 0 is read behind 0"), std::string::npos)
      << status.message();
}

TEST_F(PsClientTest, Route_OfRowsThatADenseVariableDoesNotHave_IsInvalid) {
  StepAccess plan;
  plan.requests.push_back({kDense, {5}});
  EXPECT_TRUE(client_->Route(plan).ok());
  plan.requests[0].rows = {5, 6};
  EXPECT_EQ(client_->Route(plan).status().code(), StatusCode::kInvalidArgument);
  plan.requests[0] = {VariableId{2}, {0}};
  EXPECT_EQ(client_->Route(plan).status().code(), StatusCode::kInvalidArgument);
}

TEST(PsClient, WhenPartitionsDoNotCoverAVariable_NamesIt) {
  InProcessTransport network;
  auto variables = SampleVariables();
  variables[0].mutable_partitions()->RemoveLast();
  const auto client = PsClient::Create(variables, kShards, network);
  EXPECT_EQ(client.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(client.status().message().find("dense"), std::string::npos);
}

}  // namespace
}  // namespace pstrain
