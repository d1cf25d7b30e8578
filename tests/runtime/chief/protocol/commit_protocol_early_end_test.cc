#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllCheckpointShards;
using protocol_test::AllNow;
using protocol_test::Answer;
using protocol_test::Applied;
using protocol_test::Now;
using protocol_test::Options;
using protocol_test::Register;
using protocol_test::Started;
using testing::HasSubstr;
using testing::IsEmpty;

/// Three of eight batches of ten records are granted, and the run ends with them.
class EarlyEndTest : public testing::Test {
 protected:
  EarlyEndTest() {
    for (const GrantedWorkId& grant : protocol().Grants(0, 3)) granted_.push_back(grant.work_id);
    granted_set_ = Applied(granted_);
  }

  void End() { protocol().early_end().Begin(protocol().early_end().Granted()); }
  void ReportAll() {
    for (const WorkId work_id : granted_) protocol().Report(0, work_id, AllNow(protocol()));
  }
  Status Finish(const AppliedSet& first, const AppliedSet& second) {
    const auto plan = protocol().StartCheckpoint();
    EXPECT_TRUE(plan && plan->final);
    std::vector<WrittenCheckpointShard> written = AllCheckpointShards(protocol());
    written[0].applied = first;
    written[1].applied = second;
    written[0].examples = static_cast<std::int64_t>(first.size()) * 10;
    written[1].examples = static_cast<std::int64_t>(second.size()) * 10;
    return protocol().FinishCheckpoint(written);
  }
  std::vector<WorkId> NextGrants() {
    std::vector<WorkId> grants;
    for (const GrantedWorkId& grant : protocol().Grants(0, 8)) grants.push_back(grant.work_id);
    return grants;
  }
  CommitProtocol& protocol() { return started_.protocol; }

  Started started_;
  std::vector<WorkId> granted_;
  AppliedSet granted_set_;
};

TEST_F(EarlyEndTest, Granted_IsWhatWasGranted) {
  EXPECT_EQ(protocol().early_end().Granted(), granted_set_);
  protocol().Report(0, granted_[0], AllNow(protocol()));
  protocol().Report(0, granted_[1], Now(protocol(), {0}));
  protocol().ReturnGrants(0, {granted_[2]});
  EXPECT_EQ(protocol().early_end().Granted(), granted_set_);
  EXPECT_TRUE(protocol().early_end().LeavesSomething(granted_set_));
}

TEST_F(EarlyEndTest, WhenTheRunEnds_NothingElseIsGrantedAndThatIsExpected) {
  End();
  EXPECT_THAT(NextGrants(), IsEmpty());
  EXPECT_EQ(protocol().Progress().examples_expected, 30);
  EXPECT_EQ(protocol().Progress().work_ids_expected, 3u);
  EXPECT_FALSE(protocol().Complete());
  ReportAll();
  EXPECT_TRUE(protocol().Complete());
  EXPECT_EQ(protocol().Progress().examples_committed, 30);
  EXPECT_TRUE(Finish(granted_set_, granted_set_).ok());
}

TEST_F(EarlyEndTest, WhenTheWorkerIsLost_ItsWorkIsGrantedAgain) {
  protocol().WorkerLost(0, 7);
  End();
  protocol().WorkerSeen(0, {8}, {});
  EXPECT_EQ(NextGrants(), granted_);
  EXPECT_THAT(NextGrants(), IsEmpty());
}

TEST_F(EarlyEndTest, WhenAShardLacksSomething_ItIsGrantedAgain) {
  End();
  ReportAll();
  const Status lacks = Finish(granted_set_, Applied({granted_[0], granted_[1]}));
  EXPECT_THAT(lacks.message(), HasSubstr("shard 1 lacks 1 of 3 work ids"));
  EXPECT_EQ(NextGrants(), std::vector<WorkId>{granted_[2]});
}

// A worker that no chief has heard of since has pushed what a former chief had granted.
TEST_F(EarlyEndTest, WhenAShardHasMore_AllGetIt) {
  End();
  ReportAll();
  const WorkId other{1, 2};
  AppliedSet more = granted_set_;
  more.Insert(other);
  EXPECT_EQ(Finish(more, granted_set_).code(), StatusCode::kAborted);
  EXPECT_EQ(protocol().Progress().examples_expected, 40);
  const std::vector<GrantedWorkId> grants = protocol().Grants(0, 8);
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].work_id, other);
  protocol().Report(0, other, AllNow(protocol()));
  EXPECT_TRUE(Finish(more, more).ok());
}

TEST_F(EarlyEndTest, WhenAnUnknownWorkerHasMore_AllGetIt) {
  End();
  ReportAll();
  const WorkId other{1, 0};
  protocol().WorkerSeen(1, {9}, {other});
  EXPECT_FALSE(protocol().Complete());
  EXPECT_EQ(protocol().Report(1, other, AllNow(protocol())).outcome,
            ReportResult::Outcome::kCommitted);
  EXPECT_TRUE(protocol().Complete());
  EXPECT_EQ(protocol().Progress().examples_expected, 40);
}

TEST_F(EarlyEndTest, WhenTheFinalCheckpointIsInPlace_NothingIsAddedAnyMore) {
  End();
  ReportAll();
  ASSERT_TRUE(Finish(granted_set_, granted_set_).ok());
  protocol().CheckpointPlaced("3-1");
  protocol().WorkerSeen(1, {9}, {{1, 0}});
  EXPECT_TRUE(protocol().Complete());
  EXPECT_EQ(protocol().Progress().examples_expected, 30);
}

TEST_F(EarlyEndTest, WhenAnotherChiefComes_ItGrantsWhatIsLackedAndNothingElse) {
  ProtocolOptions options = Options();
  options.chief_term = 4;
  options.early_end = granted_set_;
  Started next(std::move(options));
  EXPECT_EQ(next.protocol.Progress().examples_expected, 30);
  std::vector<WorkId> grants;
  for (const GrantedWorkId& grant : next.protocol.Grants(0, 8)) grants.push_back(grant.work_id);
  EXPECT_EQ(grants, granted_);
}

TEST_F(EarlyEndTest, WhenTheJobHasFewerEpochsNow_ThoseBeyondAreNotWanted) {
  ProtocolOptions options = Options();
  options.input.epochs = 1;
  options.early_end = Applied({{0, 1}, {1, 1}});
  EXPECT_EQ(Started(std::move(options)).protocol.Progress().examples_expected, 10);
}

}  // namespace
}  // namespace pstrain
