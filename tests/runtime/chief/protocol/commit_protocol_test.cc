#include "runtime/chief/protocol/commit_protocol.h"

#include <gtest/gtest.h>

#include <variant>

#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllNow;
using protocol_test::Answer;
using protocol_test::Applied;
using protocol_test::Now;
using protocol_test::Options;
using protocol_test::Register;
using protocol_test::Started;
using Outcome = ReportResult::Outcome;

TEST(CommitProtocol, WhileAPsIsMissing_GrantsNothing) {
  CommitProtocol protocol(Options());
  protocol.WorkerSeen(0, {7}, {});
  Register(&protocol, 0, {100});
  EXPECT_TRUE(protocol.TakeActions().empty());
  EXPECT_TRUE(protocol.Grants(0, 4).empty());
  Register(&protocol, 1, {101});
  const auto assigned = Answer(&protocol);
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kInitial);
  EXPECT_TRUE(protocol.AllActive());
  EXPECT_EQ(protocol.Grants(0, 3).size(), 3u);
  EXPECT_EQ(protocol.Progress().work_ids_in_flight, 3u);
}

TEST(CommitProtocol, WhenEveryWorkIdIsReported_CountsRecordsAndIsComplete) {
  Started s;
  for (const GrantedWorkId& grant : s.protocol.Grants(0, 100)) {
    EXPECT_TRUE(grant.shards.empty());
    EXPECT_EQ(s.protocol.Report(0, grant.work_id, AllNow(s.protocol)).outcome, Outcome::kCommitted);
    EXPECT_EQ(s.protocol.Report(0, grant.work_id, AllNow(s.protocol)).outcome, Outcome::kDuplicate);
  }
  EXPECT_TRUE(s.protocol.AllCommitted());
  EXPECT_EQ(s.protocol.Progress().examples_expected, 70);
  EXPECT_EQ(s.protocol.Progress().examples_committed, 70);
  EXPECT_EQ(s.protocol.Report(0, {2, 0}, AllNow(s.protocol)).outcome, Outcome::kUnknown);
}

TEST(CommitProtocol, WhenAReportIsOfAnOlderTerm_ThatShardIsStaleAndGrantedAgainAlone) {
  Started s;
  const GrantedWorkId grant = s.protocol.Grants(0, 1).at(0);
  const ShardsInMembership before = AllNow(s.protocol);
  s.protocol.PsLost(1, s.ps1);
  Register(&s.protocol, 1, {201});
  Answer(&s.protocol);
  ASSERT_TRUE(s.protocol.AllActive());
  const ReportResult result = s.protocol.Report(0, grant.work_id, before);
  EXPECT_EQ(result.outcome, Outcome::kOpen);
  EXPECT_EQ(result.stale, (std::vector<ShardId>{1}));
  const GrantedWorkId again = s.protocol.Grants(0, 1).at(0);
  EXPECT_EQ(again.work_id, grant.work_id);
  EXPECT_EQ(again.shards, (std::vector<ShardId>{1}));
  EXPECT_EQ(s.protocol.Report(0, again.work_id, Now(s.protocol, {1})).outcome, Outcome::kCommitted);
}

// The shard's new owner has answered, and nobody can have heard of it yet.
TEST(CommitProtocol, WhenAShardIsActivated_OnlyMembershipsFromThenOnNameItsTerm) {
  Started s;
  const GrantedWorkId grant = s.protocol.Grants(0, 1).at(0);
  s.protocol.PsLost(1, s.ps1);
  const ShardsInMembership vacant = AllNow(s.protocol);
  Register(&s.protocol, 1, {201});
  const ShardsInMembership assigned = AllNow(s.protocol);
  Answer(&s.protocol);
  for (const ShardsInMembership& before : {vacant, assigned}) {
    EXPECT_EQ(s.protocol.Report(0, grant.work_id, before).stale, (std::vector<ShardId>{1}));
  }
  // Another change does not give it another term.
  const ShardsInMembership active = AllNow(s.protocol);
  s.protocol.PsLost(0, s.ps0);
  EXPECT_GT(AllNow(s.protocol).membership, active.membership);
  EXPECT_EQ(s.protocol.Report(0, grant.work_id, active).stale, (std::vector<ShardId>{0}));
}

TEST(CommitProtocol, WhenAReportNamesNoMembershipOfThisChief_NothingIsTaken) {
  Started s;
  const GrantedWorkId grant = s.protocol.Grants(0, 1).at(0);
  ShardsInMembership unknown = AllNow(s.protocol);
  ++unknown.membership;
  EXPECT_EQ(s.protocol.Report(0, grant.work_id, unknown).outcome, Outcome::kUnknown);
  EXPECT_EQ(s.protocol.Progress().work_ids_in_flight, 1U);
  ShardsInMembership former = AllNow(s.protocol);
  former.membership -= std::uint64_t{1} << 32;
  const ReportResult result = s.protocol.Report(0, grant.work_id, former);
  EXPECT_EQ(result.outcome, Outcome::kOpen);
  EXPECT_EQ(result.stale, (std::vector<ShardId>{0, 1}));
  EXPECT_TRUE(s.protocol.Grants(0, 1).at(0).shards.empty()) << "all shards lack it";
}

TEST(CommitProtocol, WhenAWorkerIsLost_ItsWorkIdsGoToAnother) {
  Started s;
  const auto grants = s.protocol.Grants(0, 2);
  s.protocol.WorkerSeen(1, {8}, {});
  s.protocol.WorkerLost(0, 999);  // not the current process
  EXPECT_EQ(s.protocol.Progress().work_ids_in_flight, 2u);
  s.protocol.WorkerLost(0, 7);
  EXPECT_TRUE(s.protocol.Grants(0, 1).empty());
  const auto again = s.protocol.Grants(1, 2);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].work_id, grants[0].work_id);
}

TEST(CommitProtocol, WhenAWorkerIsReplaced_TheFormerProcessIsRefused) {
  Started s;
  EXPECT_TRUE(s.protocol.WorkerSeen(0, {8}, {}));
  EXPECT_FALSE(s.protocol.WorkerSeen(0, {7}, {}));
}

TEST(CommitProtocol, WhenAPsIsLost_WorkIdsNotInTheCheckpointAreOpenedForItsShardAlone) {
  Started s;
  const auto grants = s.protocol.Grants(0, 8);
  for (const GrantedWorkId& grant : grants) s.protocol.Report(0, grant.work_id, AllNow(s.protocol));
  ASSERT_TRUE(s.protocol.AllCommitted());
  s.protocol.CheckpointPlaced("3-1");
  s.protocol.PsLost(1, s.ps1);
  EXPECT_FALSE(s.protocol.AllCommitted());
  EXPECT_TRUE(s.protocol.Grants(0, 8).empty());
  Register(&s.protocol, 1, {201});
  const auto assigned = Answer(&s.protocol, Applied({{0, 0}, {0, 1}, {0, 2}, {1, 3}}));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].checkpoint, "3-1");
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kRestore);
  EXPECT_EQ(s.protocol.Progress().examples_committed, 35);
  EXPECT_EQ(s.protocol.Progress().work_ids_reopened, 4u);
  const auto reopened = s.protocol.Grants(0, 8);
  ASSERT_EQ(reopened.size(), 4u);
  EXPECT_EQ(reopened[0].work_id, (WorkId{0, 3}));
  for (const GrantedWorkId& grant : reopened) {
    EXPECT_EQ(grant.shards, (std::vector<ShardId>{1}));
    s.protocol.Report(0, grant.work_id, Now(s.protocol, {1}));
  }
  EXPECT_TRUE(s.protocol.AllCommitted());
}

TEST(CommitProtocol, WhenTheNewestCheckpointIsBad_RestoresFromTheOneBeforeAndFailsWithoutAny) {
  ProtocolOptions options = Options();
  options.checkpoints = {"2-2", "2-1"};
  CommitProtocol protocol(options);
  Register(&protocol, 0, {100});
  Register(&protocol, 1, {101});
  auto actions = protocol.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  const auto first = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(first.checkpoint, "2-2");
  protocol.AssignFailed(0, first.incarnation, first, true);
  actions = protocol.TakeActions();
  ASSERT_EQ(actions.size(), 1u);
  const auto second = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(second.checkpoint, "2-1");
  EXPECT_GT(second.shards[0].term, first.shards[0].term);
  protocol.AssignFailed(0, second.incarnation, second, true);
  actions = protocol.TakeActions();
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(std::get<FailAction>(actions[0]).status.code(), StatusCode::kDataLoss);
}

TEST(CommitProtocol, WhenTheChiefIsNew_TheHighestActiveTermIsKeptAndOthersAreDropped) {
  CommitProtocol protocol(Options());
  Register(&protocol, 0, {100},
           {{0, {2, 5}, true, Applied({{0, 0}}), 10}, {1, {2, 6}, true, Applied({}), 0}});
  Register(&protocol, 1, {101},
           {{1, {2, 9}, true, Applied({{0, 0}}), 10}, {0, {2, 8}, false, Applied({}), 0}});
  const auto assigned = Answer(&protocol, Applied({{0, 0}}));
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kKeep);
  EXPECT_EQ(assigned[0].shards[0].term.chief_term, 3u);
  EXPECT_EQ(assigned[0].shards[1], (ShardAssignment{1, {2, 6}, AssignSource::kDrop, {}, {}}));
  EXPECT_EQ(assigned[1].shards[0].source, AssignSource::kKeep);
  EXPECT_EQ(assigned[1].shards[1].source, AssignSource::kDrop);
  EXPECT_TRUE(protocol.AllActive());
  EXPECT_EQ(protocol.Progress().work_ids_committed, 1u);
}

TEST(CommitProtocol, WhenAPsStaysAway_ItsShardsWaitForItAfterTheRejoinTimeout) {
  ProtocolOptions options = Options();
  options.checkpoints = {"2-1"};
  CommitProtocol protocol(options);
  Register(&protocol, 0, {100}, {{0, {2, 5}, true, Applied({}), 0}});
  protocol.Tick(ProtocolTime{} + options.rejoin_timeout - std::chrono::milliseconds(1));
  EXPECT_TRUE(protocol.joining());
  protocol.Tick(ProtocolTime{} + options.rejoin_timeout);
  EXPECT_FALSE(protocol.joining());
  Answer(&protocol);
  EXPECT_TRUE(protocol.membership().shards[0].active);
  EXPECT_FALSE(protocol.membership().shards[1].active);
  Register(&protocol, 1, {101});
  Answer(&protocol);
  EXPECT_TRUE(protocol.AllActive());
}

TEST(CommitProtocol, WhenThePsIsReplaced_TheFormerProcessAndItsAnswersAreRefused) {
  Started s;
  const std::uint64_t before = s.protocol.membership().number;
  Register(&s.protocol, 0, {200});
  EXPECT_GT(s.protocol.membership().number, before);
  EXPECT_FALSE(s.protocol.PsKnown(0, s.ps0));
  EXPECT_EQ(s.protocol.RegisterPs(0, {100}, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  const ShardTerm term = s.protocol.membership().shards[0].term;
  s.protocol.ShardsActivated(0, s.ps0, {{0, term, true, AppliedSet(4), 0}});
  EXPECT_FALSE(s.protocol.AllActive());
}

TEST(CommitProtocol, WhenAnEarlierAttemptSpeaksFirstToANewChief_ItsSuccessorReplacesItForGood) {
  CommitProtocol protocol(Options());
  const PeerProcess former{100, 3};
  const PeerProcess successor{200, 4};
  Register(&protocol, 0, former);
  Register(&protocol, 0, successor);
  EXPECT_EQ(protocol.RegisterPs(0, former, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_TRUE(protocol.WorkerSeen(0, former, {}));
  EXPECT_TRUE(protocol.WorkerSeen(0, successor, {}));
  EXPECT_FALSE(protocol.WorkerSeen(0, former, {}));
}

TEST(CommitProtocol, WhenAnEarlierAttemptSpeaksLast_ItIsRefused) {
  CommitProtocol protocol(Options());
  const PeerProcess former{100, 3};
  const PeerProcess successor{200, 4};
  const Incarnation newest = Register(&protocol, 0, successor);
  EXPECT_EQ(protocol.RegisterPs(0, former, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_TRUE(protocol.PsKnown(0, newest));
  protocol.PsLost(0, newest);
  EXPECT_EQ(protocol.RegisterPs(0, former, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);

  EXPECT_TRUE(protocol.WorkerSeen(0, successor, {}));
  EXPECT_FALSE(protocol.WorkerSeen(0, former, {}));
  protocol.WorkerLost(0, successor.id);
  EXPECT_FALSE(protocol.WorkerSeen(0, former, {}));
}

TEST(CommitProtocol, WhenTheSameProcessComesBackAfterItWasLost_ItsCopyIsKept) {
  Started s;
  const ShardTerm term = s.protocol.membership().shards[0].term;
  s.protocol.PsLost(0, s.ps0);
  Register(&s.protocol, 0, {100}, {{0, term, true, Applied({{0, 0}}), 10}});
  const auto assigned = Answer(&s.protocol, Applied({{0, 0}}));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kKeep);
  EXPECT_GT(assigned[0].shards[0].term, term);
}

TEST(Drain, WhenWorkIdsAreReportedOrReturned_IsDrainedAndGrantsNoMore) {
  Started s;
  const auto grants = s.protocol.Grants(0, 2);
  s.protocol.Drain();
  EXPECT_TRUE(s.protocol.Grants(0, 1).empty());
  EXPECT_FALSE(s.protocol.Drained());
  s.protocol.Report(0, grants[0].work_id, AllNow(s.protocol));
  s.protocol.ReturnGrants(0, {grants[1].work_id});
  EXPECT_TRUE(s.protocol.Drained());
}

}  // namespace
}  // namespace pstrain
