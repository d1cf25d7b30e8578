#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllApplied;
using protocol_test::AllCheckpointShards;
using protocol_test::AllNow;
using protocol_test::Applied;
using protocol_test::kExamples;
using protocol_test::Started;
using testing::HasSubstr;

/// All is reported as applied; what the shards say in the final checkpoint differs.
class FinalCheckpointTest : public testing::Test {
 protected:
  FinalCheckpointTest() { ReportAll(); }

  void ReportAll() {
    for (const GrantedWorkId& grant : protocol().Grants(0, 8)) {
      granted_.push_back(grant);
      protocol().Report(0, grant.work_id, AllNow(protocol()));
    }
  }
  Status Finish(const AppliedSet& first, const AppliedSet& second,
                std::int64_t examples = kExamples) {
    const auto plan = protocol().StartCheckpoint();
    EXPECT_TRUE(plan && plan->final);
    std::vector<WrittenCheckpointShard> written = AllCheckpointShards(protocol());
    written[0].applied = first;
    written[1].applied = second;
    for (WrittenCheckpointShard& shard : written) shard.examples = examples;
    return protocol().FinishCheckpoint(written);
  }
  CommitProtocol& protocol() { return started_.protocol; }
  Status Failure() {
    for (const ProtocolAction& action : protocol().TakeActions()) {
      if (const auto* fail = std::get_if<FailAction>(&action)) return fail->status;
    }
    return OkStatus();
  }

  Started started_;
  std::vector<GrantedWorkId> granted_;
};

TEST_F(FinalCheckpointTest, WhenEveryShardHasAll_Counts) {
  EXPECT_TRUE(Finish(AllApplied(), AllApplied()).ok());
  EXPECT_TRUE(protocol().AllCommitted());
}

TEST_F(FinalCheckpointTest, WhenAShardLacksWorkIds_TheyAreGrantedAgainForThatShardAlone) {
  const Status status = Finish(AllApplied(), Applied({{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}}));
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_THAT(status.message(), HasSubstr("shard 1 lacks 3 of 8 work ids"));
  EXPECT_FALSE(protocol().AllCommitted());
  EXPECT_EQ(protocol().Progress().work_ids_reopened, 3u);
  granted_.clear();
  ReportAll();
  ASSERT_EQ(granted_.size(), 3u);
  for (const GrantedWorkId& grant : granted_) EXPECT_EQ(grant.shards, std::vector<ShardId>{1});
  EXPECT_TRUE(Finish(AllApplied(), AllApplied()).ok());
  EXPECT_TRUE(Failure().ok());
}

/// What each of the two shards has left out.
class LeftOutTest : public FinalCheckpointTest {
 protected:
  Status FinishWith(std::vector<WorkId> first, std::vector<WorkId> second) {
    EXPECT_TRUE(protocol().StartCheckpoint().has_value());
    std::vector<WrittenCheckpointShard> written = AllCheckpointShards(protocol());
    for (WrittenCheckpointShard& shard : written) {
      shard.applied = AllApplied();
      shard.examples = kExamples;
    }
    written[0].left_out = std::move(first);
    written[1].left_out = std::move(second);
    return protocol().FinishCheckpoint(written);
  }
};

TEST_F(LeftOutTest, WhenAllShardsHaveLeftABatchOut_Counts) {
  EXPECT_TRUE(FinishWith({{0, 1}, {1, 2}}, {{0, 1}, {1, 2}}).ok());
}

TEST_F(LeftOutTest, WhenOneShardHasAppliedWhatAnotherHasLeftOut_ItIsGrantedAgain) {
  const Status status = FinishWith({{0, 1}, {1, 2}}, {{1, 2}});
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_THAT(status.message(), HasSubstr("shard 0 lacks 1 of 8 work ids"));
  granted_.clear();
  ReportAll();
  ASSERT_EQ(granted_.size(), 1u);
  EXPECT_EQ(granted_[0].work_id, (WorkId{0, 1}));
  EXPECT_EQ(granted_[0].shards, std::vector<ShardId>{0});
  EXPECT_TRUE(FinishWith({{1, 2}}, {{1, 2}}).ok());
}

// Of a program: of a call that was given up some shards have what it changes, for ever.
TEST(LeftOut, WhenAProgramsCallWasLost_ShardsMayDifferOnItAlone) {
  const auto source = std::make_shared<ClosureSource>();
  source->BeginAt(1);
  AppliedSet all(ClosureSource::kChunkSize);
  all.Insert({0, 0});
  const AppliedSet of_mark = all;
  for (std::uint32_t i = 1; i < 3; ++i) all.Insert(source->Add(1, {kClosureWork, "call"}));
  ProtocolOptions options = protocol_test::Options();
  options.source = source;
  options.checkpoints = {"2-1"};
  Started started(options, of_mark);
  CommitProtocol& protocol = started.protocol;
  const auto report = [&protocol] {
    for (const GrantedWorkId& grant : protocol.Grants(0, 8))
      protocol.Report(0, grant.work_id, AllNow(protocol));
  };
  const auto finish = [&](std::vector<WorkId> left_out) {
    EXPECT_TRUE(protocol.StartCheckpoint().has_value());
    std::vector<WrittenCheckpointShard> written = AllCheckpointShards(protocol);
    for (WrittenCheckpointShard& shard : written) {
      shard.applied = all;
      shard.examples = 3;
    }
    written[0].left_out = std::move(left_out);
    const Status finished = protocol.FinishCheckpoint(written);
    protocol.CheckpointFailed();
    return finished;
  };
  report();
  ASSERT_TRUE(protocol.Complete());
  EXPECT_EQ(finish({{0, 1}, {0, 2}}).code(), StatusCode::kAborted);
  report();
  source->Lose({0, 1});
  EXPECT_EQ(finish({{0, 1}, {0, 2}}).code(), StatusCode::kAborted) << "2 is not lost";
  report();
  EXPECT_EQ(finish({{0, 1}}), OkStatus());
  EXPECT_EQ(finish({{0, 0}}), OkStatus()) << "it may have been lost before the mark";
}

TEST_F(FinalCheckpointTest, WhenAShardDoesNotSayWhatItHas_DoesNotCount) {
  ASSERT_TRUE(protocol().StartCheckpoint().has_value());
  EXPECT_EQ(protocol().FinishCheckpoint(AllCheckpointShards(protocol())).code(),
            StatusCode::kAborted);
}

TEST_F(FinalCheckpointTest, WhenFalseReportsDoNotEnd_TheRunFails) {
  Status status;
  int refused = 0;
  while (status.code() != StatusCode::kDataLoss && refused < 100) {
    status = Finish(AllApplied(), Applied({{0, 0}}));
    ASSERT_FALSE(status.ok());
    ++refused;
    ReportAll();
  }
  EXPECT_EQ(refused, 11);
  EXPECT_THAT(status.message(), HasSubstr("shard 1 lacks 7 of 8 work ids"));
  EXPECT_EQ(Failure().message(), status.message());
}

TEST_F(FinalCheckpointTest, WhenAShardHasOtherExamples_TheRunFails) {
  const Status status = Finish(AllApplied(), AllApplied(), kExamples + 1);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("71 examples instead of 70"));
  EXPECT_EQ(Failure().message(), status.message());
}

/// Why a run fails where a shard has work of epoch 6; `field`: ProtocolOptions::epochs_field.
Status FailureBeyondTheRun(const std::string& field) {
  ProtocolOptions options = protocol_test::Options();
  options.epochs_field = field;
  CommitProtocol protocol(std::move(options));
  protocol_test::Register(&protocol, 0, {100});
  protocol_test::Register(&protocol, 1, {101}, {{1, {2, 1}, true, Applied({{0, 0}, {5, 1}}), 20}});
  protocol_test::Answer(&protocol, Applied({{0, 0}, {5, 1}}));
  Status failure;
  for (const ProtocolAction& action : protocol.TakeActions()) {
    if (const auto* fail = std::get_if<FailAction>(&action)) failure = fail->status;
  }
  EXPECT_FALSE(protocol.AllActive());
  return failure;
}

TEST(Epochs, WhenAShardHasAppliedMoreThanTheJobHas_TheRunFails) {
  const Status failure = FailureBeyondTheRun("spec.training.epochs");
  EXPECT_EQ(failure.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(failure.message(), HasSubstr("spec.training.epochs is 2"));
  EXPECT_THAT(failure.message(), HasSubstr("set it to at least 6"));
}

TEST(Epochs, WhenTheJobHasNoFieldForThem_TheFailureNamesNone) {
  const Status failure = FailureBeyondTheRun("");
  EXPECT_EQ(failure.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(failure.message(), HasSubstr("there are 2 chunks of work, but the run has"));
  EXPECT_THAT(failure.message(), HasSubstr("start a new run"));
}

/// A job whose batches have records up to the fourth; one ps has all shards.
class EpochSizeTest : public testing::Test {
 protected:
  EpochSizeTest() {
    ProtocolOptions options = protocol_test::Options();
    options.ps_count = 1;
    options.shard_to_ps = {0, 0};
    options.input.records = [this](std::uint32_t batch) {
      most_ = std::max(most_, batch);
      return 1u;
    };
    protocol_.emplace(std::move(options));
  }

  AppliedSet wide_{300};
  std::uint32_t most_ = 0;
  std::optional<CommitProtocol> protocol_;
};

// The number of records of a batch is looked up in a table of the input's batches.
TEST_F(EpochSizeTest, WhenAnAnswerIsOfLongerEpochs_TheRunFailsAndNoBatchIsLookedUp) {
  wide_.Insert({0, 299});
  protocol_test::Register(&*protocol_, 0, {100});
  for (const ProtocolAction& action : protocol_->TakeActions()) {
    const auto& assign = std::get<AssignShardsAction>(action);
    std::vector<ShardCopy> copies;
    for (const ShardAssignment& shard : assign.shards) {
      copies.push_back({shard.shard, shard.term, true, wide_, 1});
    }
    ASSERT_EQ(copies.size(), 2u);
    protocol_->ShardsActivated(0, assign.incarnation, copies);
  }
  EXPECT_FALSE(protocol_->AllActive());
  EXPECT_LT(most_, 4u);
  const std::vector<ProtocolAction> actions = protocol_->TakeActions();
  ASSERT_EQ(actions.size(), 1u);
  const Status failure = std::get<FailAction>(actions[0]).status;
  EXPECT_EQ(failure.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(failure.message(), HasSubstr("shard 0 is of 300 batches an epoch instead of 4"));
}

TEST_F(EpochSizeTest, WhenAPsRegistersWithACopyOfLongerEpochs_IsRefused) {
  const Result<Incarnation> refused =
      protocol_->RegisterPs(0, {100}, "a:1", {{1, {2, 1}, true, wide_, 0}}, {});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("ps 0: the applied set of shard 1"));
  // A copy that was not complete yet has no set, and is dropped.
  EXPECT_TRUE(
      protocol_->RegisterPs(0, {100}, "a:1", {{1, {2, 1}, false, AppliedSet(), 0}}, {}).ok());
}

}  // namespace
}  // namespace pstrain
