#include <gtest/gtest.h>

#include <memory>

#include "runtime/chief/protocol/closure_source.h"
#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllCheckpointShards;
using protocol_test::AllNow;
using protocol_test::AllTerms;
using protocol_test::Now;
using Outcome = ReportResult::Outcome;

/// Two shards on two ps; work ids 0 and 1, then a phase with 2 and 3.
class EarlyTest : public testing::Test {
 protected:
  EarlyTest() {
    for (const std::uint32_t number : {0U, 1U, 2U, 3U}) {
      if (number == 2) source_->EndPhase();
      source_->Add();
      all_.Insert({0, number});
    }
    ProtocolOptions options = protocol_test::Options();
    options.source = source_;
    protocol_ = std::make_unique<CommitProtocol>(options);
    ps_ = protocol_test::Register(protocol_.get(), 0, {100});
    protocol_test::Register(protocol_.get(), 1, {101});
    protocol_test::Answer(protocol_.get(), AppliedSet(ClosureSource::kChunkSize));
    protocol_->WorkerSeen(0, {7}, {});
  }
  std::vector<WorkId> Granted() {
    std::vector<WorkId> ids;
    for (const GrantedWorkId& grant : protocol_->Grants(0, 10)) ids.push_back(grant.work_id);
    return ids;
  }
  Outcome Report(std::uint32_t number) {
    return protocol_->Report(0, {0, number}, AllNow(*protocol_)).outcome;
  }
  /// Shard 0 has taken it, shard 1 was early.
  ReportResult ReportEarly(std::uint32_t number) {
    return protocol_->Report(0, {0, number}, Now(*protocol_, {0}), Now(*protocol_, {1}).shards);
  }
  /// All that the first phase has is reported, and one of the second is with the worker.
  void BeginTheSecondPhase() {
    EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 0}, {0, 1}}));
    EXPECT_EQ(Report(0), Outcome::kCommitted);
    EXPECT_EQ(Report(1), Outcome::kCommitted);
    EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 2}, {0, 3}}));
  }

  const std::shared_ptr<ClosureSource> source_ = std::make_shared<ClosureSource>();
  AppliedSet all_{ClosureSource::kChunkSize};
  std::unique_ptr<CommitProtocol> protocol_;
  Incarnation ps_ = 0;
};

// A ps was lost, its shard came back without work id 1, and another worker has that now.
TEST_F(EarlyTest, WhenWhatTheShardLacksIsOpen_TheWorkIdWaitsForIt) {
  BeginTheSecondPhase();
  AppliedSet restored(ClosureSource::kChunkSize);
  restored.Insert({0, 0});
  protocol_->PsLost(0, ps_);
  ps_ = protocol_test::Register(protocol_.get(), 0, {200, 1});
  for (const ProtocolAction& action : protocol_->TakeActions()) {
    const auto& assign = std::get<AssignShardsAction>(action);
    protocol_->ShardsActivated(assign.ps, assign.incarnation,
                               {{0, assign.shards.at(0).term, true, restored, 0}});
  }
  ASSERT_TRUE(protocol_->AllActive());
  const ReportResult result =
      protocol_->Report(0, {0, 2}, Now(*protocol_, {1}), Now(*protocol_, {0}).shards);
  EXPECT_EQ(result.outcome, Outcome::kOpen);
  EXPECT_TRUE(result.asked.empty());
  EXPECT_TRUE(protocol_->AllActive());
  EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 1}}));
  EXPECT_EQ(protocol_->Grantable(), 0U);
  EXPECT_EQ(Report(1), Outcome::kCommitted);
  const std::vector<GrantedWorkId> again = protocol_->Grants(0, 10);
  ASSERT_EQ(again.size(), 1U) << "3 is still with the worker";
  EXPECT_EQ(again[0].work_id, (WorkId{0, 2}));
  EXPECT_EQ(again[0].shards, (std::vector<ShardId>{0})) << "shard 1 has taken it";
  EXPECT_EQ(again[0].after, (WorkId{0, 2}));
}

// Somebody has reported work id 1 of a shard that never had it.
TEST_F(EarlyTest, WhenByTheReportsTheShardLacksNothing_ItIsAskedWhatItHas) {
  BeginTheSecondPhase();
  const ShardTerm before = AllTerms(*protocol_)[1].term;
  EXPECT_EQ(ReportEarly(2).asked, (std::vector<ShardId>{1}));
  EXPECT_FALSE(protocol_->AllActive());
  EXPECT_TRUE(Granted().empty());
  AppliedSet has(ClosureSource::kChunkSize);
  has.Insert({0, 0});
  const std::vector<AssignShardsAction> assigned = protocol_test::Answer(protocol_.get(), has);
  ASSERT_EQ(assigned.size(), 1U);
  EXPECT_EQ(assigned[0].ps, 1U);
  ASSERT_EQ(assigned[0].shards.size(), 1U);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kKeep);
  EXPECT_GT(assigned[0].shards[0].term, before);
  const std::vector<GrantedWorkId> grants = protocol_->Grants(0, 10);
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].work_id, (WorkId{0, 1}));
  EXPECT_EQ(grants[0].shards, (std::vector<ShardId>{1}));
}

TEST_F(EarlyTest, WhenTheShardHasGotANewTermSince_ItIsNotAsked) {
  BeginTheSecondPhase();
  const ShardsInMembership before = Now(*protocol_, {});
  const ShardSet early = Now(*protocol_, {1}).shards;
  EXPECT_EQ(ReportEarly(2).asked.size(), 1U);
  EXPECT_EQ(protocol_test::Answer(protocol_.get(), all_).size(), 1U);
  EXPECT_TRUE(protocol_->Report(0, {0, 3}, before, early).asked.empty());
  EXPECT_TRUE(protocol_->AllActive());
}

// An attempt that was early when it read has come to nothing that the program could be told.
TEST_F(EarlyTest, WhenAReportNamesNoShard_ItCommitsNothing) {
  BeginTheSecondPhase();
  EXPECT_EQ(ReportEarly(2).outcome, Outcome::kOpen);
  EXPECT_EQ(protocol_test::Answer(protocol_.get(), all_).size(), 1U);
  ASSERT_EQ(Granted(), (std::vector<WorkId>{{0, 2}}))
      << "both shards have it, and no report says so";
  const ReportResult nothing = protocol_->Report(0, {0, 2}, Now(*protocol_, {}), {});
  EXPECT_EQ(nothing.outcome, Outcome::kOpen);
  EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 2}})) << "it was given back";
  EXPECT_EQ(Report(2), Outcome::kCommitted);
}

// The chunk is not full: what it has no work ids for is not lacking.
TEST_F(EarlyTest, AFinalCheckpointIsCompleteWithWhatThereIs) {
  BeginTheSecondPhase();
  EXPECT_EQ(Report(2), Outcome::kCommitted);
  EXPECT_EQ(Report(3), Outcome::kCommitted);
  const auto finish = [this](const AppliedSet& applied) {
    const auto plan = protocol_->StartCheckpoint();
    EXPECT_TRUE(plan && plan->final);
    std::vector<WrittenCheckpointShard> written = AllCheckpointShards(*protocol_);
    for (WrittenCheckpointShard& shard : written) {
      shard.applied = applied;
      shard.examples = 4;
    }
    return protocol_->FinishCheckpoint(written);
  };
  EXPECT_TRUE(finish(all_).ok());
  protocol_->CheckpointFailed();
  EXPECT_EQ(finish(all_.Without({{0, 2}})).code(), StatusCode::kAborted);
  EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 2}}));
}

// Which workers are there is what the protocol knows of them.
TEST_F(EarlyTest, WorkOfAWorker_IsKeptForItUntilItIsLost) {
  BeginTheSecondPhase();
  source_->Add(1, {}, {.worker = 1});
  source_->Add(1, {}, {.worker = 1});
  protocol_->WorkerSeen(1, {8}, {});
  EXPECT_TRUE(Granted().empty());
  EXPECT_EQ(protocol_->Grantable(), 0U);
  EXPECT_TRUE(protocol_->GrantableTo(1));
  EXPECT_FALSE(protocol_->GrantableTo(0));
  EXPECT_EQ(protocol_->Grants(1, 1).size(), 1U);
  protocol_->WorkerLost(1, 8);
  EXPECT_EQ(protocol_->Grantable(), 2U);
  EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 4}, {0, 5}}));
}

TEST_F(EarlyTest, WhileDraining_NobodyHearsOfWorkThatIsKept) {
  source_->Add(1, {}, {.worker = 0});
  EXPECT_EQ(Granted(), (std::vector<WorkId>{{0, 0}, {0, 1}}));
  EXPECT_EQ(Report(0), Outcome::kCommitted);
  EXPECT_EQ(Report(1), Outcome::kCommitted);
  EXPECT_TRUE(protocol_->GrantableTo(0));
  protocol_->Drain();
  EXPECT_FALSE(protocol_->GrantableTo(0));
}

}  // namespace
}  // namespace pstrain
