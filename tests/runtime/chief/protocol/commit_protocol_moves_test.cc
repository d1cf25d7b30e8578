#include <gtest/gtest.h>

#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllCheckpointShards;
using protocol_test::AllNow;
using protocol_test::Answer;
using protocol_test::Applied;
using protocol_test::Register;
using protocol_test::Started;

// The only action: an assignment.
AssignShardsAction OnlyAssignment(CommitProtocol* protocol) {
  const auto actions = protocol->TakeActions();
  EXPECT_EQ(actions.size(), 1u);
  return std::get<AssignShardsAction>(actions.at(0));
}

TEST(Move, WhenAPsLeaves_ItsShardsGoToAnotherWithoutACheckpointAndItIsReleased) {
  Started s;
  const ShardTerm before = s.protocol.membership().shards[1].term;
  s.protocol.PsLeaving(1, s.ps1);
  EXPECT_FALSE(s.protocol.CheckpointWanted());
  EXPECT_TRUE(s.protocol.Grants(0, 1).empty());
  const AssignShardsAction move = OnlyAssignment(&s.protocol);
  EXPECT_EQ(move.ps, 0u);
  ASSERT_EQ(move.shards.size(), 1u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
  EXPECT_EQ(move.shards[0].from, "a:1");
  EXPECT_EQ(move.shards[0].from_term, before);
  const AppliedSet applied = Applied({{0, 0}, {0, 1}});
  s.protocol.ShardsActivated(0, s.ps0, {{1, move.shards[0].term, true, applied, 20}});
  EXPECT_TRUE(s.protocol.AllActive());
  EXPECT_EQ(s.protocol.Grants(0, 1).size(), 1u);
  const auto actions = s.protocol.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  const auto& drop = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(drop.ps, 1u);
  EXPECT_EQ(drop.shards[0], (ShardAssignment{1, before, AssignSource::kDrop, {}, {}}));
  EXPECT_EQ(std::get<ReleasePsAction>(actions[1]).ps, 1u);
}

TEST(Move, WhenTheNextAttemptComes_ItsShardsComeBack) {
  Started s;
  s.protocol.PsLeaving(1, s.ps1);
  Answer(&s.protocol);
  s.protocol.TakeActions();
  ASSERT_TRUE(s.protocol.AllActive());
  s.ps1 = Register(&s.protocol, 1, {201});
  const AssignShardsAction move = OnlyAssignment(&s.protocol);
  EXPECT_EQ(move.ps, 1u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
  s.protocol.ShardsActivated(1, s.ps1, {{1, move.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_EQ(s.protocol.membership().shards[1].ps, 1u);
  const AssignShardsAction drop = OnlyAssignment(&s.protocol);
  EXPECT_EQ(drop.ps, 0u);
  EXPECT_EQ(drop.shards[0].source, AssignSource::kDrop);
}

TEST(Move, WhenItFailsOrTheTargetIsLost_TheFormerOwnerKeepsTheShardUnderANewTerm) {
  for (const bool target_lost : {false, true}) {
    Started s;
    const ShardTerm before = s.protocol.membership().shards[1].term;
    s.protocol.PsLeaving(1, s.ps1);
    const AssignShardsAction move = OnlyAssignment(&s.protocol);
    if (target_lost) {
      s.protocol.PsLost(0, s.ps0);
    } else {
      s.protocol.AssignFailed(0, s.ps0, move, false);
    }
    const AssignShardsAction keep = OnlyAssignment(&s.protocol);
    EXPECT_EQ(keep.ps, 1u);
    EXPECT_EQ(keep.shards[0].source, AssignSource::kKeep);
    EXPECT_GT(keep.shards[0].term, before);
    s.protocol.ShardsActivated(1, s.ps1, {{1, keep.shards[0].term, true, AppliedSet(4), 0}});
    EXPECT_TRUE(s.protocol.membership().shards[1].active);
    EXPECT_TRUE(s.protocol.TakeActions().empty()) << "it is not tried again immediately";
    EXPECT_EQ(s.protocol.CheckpointWanted(), !target_lost)
        << "the checkpoint is the other way to leave";
  }
}

/// The move of shard 1 away from ps 1 fails, and the shard is active there again.
void FailMove(Started* s, const AssignShardsAction& move) {
  s->protocol.AssignFailed(0, s->ps0, move, false);
  const AssignShardsAction keep = OnlyAssignment(&s->protocol);
  s->protocol.ShardsActivated(1, s->ps1, {{1, keep.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_TRUE(s->protocol.TakeActions().empty());
}

TEST(Move, WhenItFailsAgainAndAgain_IsTriedAgainAfterPausesThatDouble) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  Started s;
  s.protocol.PsLeaving(1, s.ps1);
  ProtocolTime now = seconds(100);
  for (const int pause : {1, 2, 4, 8, 16, 32, 60, 60}) {
    FailMove(&s, OnlyAssignment(&s.protocol));
    s.protocol.Tick(now);
    now += seconds(pause);
    s.protocol.Tick(now - milliseconds(1));
    EXPECT_TRUE(s.protocol.TakeActions().empty()) << pause;
    const std::uint64_t number = s.protocol.membership().number;
    s.protocol.Tick(now);
    EXPECT_GT(s.protocol.membership().number, number) << "workers hear of it";
  }
  const AssignShardsAction move = OnlyAssignment(&s.protocol);
  EXPECT_EQ(move.ps, 0u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
}

// The link between the two ps is cut, and the job takes a checkpoint each second.
TEST(Move, WhenItHasFailed_ACheckpointDoesNotEndThePause) {
  Started s;
  s.protocol.SetPsCount(1, {0, 0});
  FailMove(&s, OnlyAssignment(&s.protocol));
  s.protocol.Tick(std::chrono::seconds(100));
  ASSERT_TRUE(s.protocol.StartCheckpoint().has_value());
  ASSERT_TRUE(s.protocol.FinishCheckpoint(AllCheckpointShards(s.protocol)).ok());
  s.protocol.CheckpointPlaced("3-1");
  EXPECT_TRUE(s.protocol.TakeActions().empty());
  EXPECT_TRUE(s.protocol.AllActive()) << "the job trains";
  s.protocol.Tick(std::chrono::seconds(101));
  EXPECT_EQ(OnlyAssignment(&s.protocol).shards[0].source, AssignSource::kMove);
}

TEST(Move, WhenTheSourceIsLostBeforeItsCopyWasTaken_TheShardIsRestored) {
  Started s;
  s.protocol.CheckpointPlaced("3-1");
  s.protocol.PsLeaving(1, s.ps1);
  const AssignShardsAction move = OnlyAssignment(&s.protocol);
  s.protocol.PsLost(1, s.ps1);
  s.protocol.AssignFailed(0, s.ps0, move, false);
  EXPECT_TRUE(s.protocol.TakeActions().empty());
  Register(&s.protocol, 1, {201});
  const AssignShardsAction restore = OnlyAssignment(&s.protocol);
  EXPECT_EQ(restore.ps, 1u);
  EXPECT_EQ(restore.shards[0].source, AssignSource::kRestore);
}

TEST(Move, WhenTheSourceIsLostAfterItsCopyWasTaken_TheTargetHasIt) {
  Started s;
  s.protocol.PsLeaving(1, s.ps1);
  const AssignShardsAction move = OnlyAssignment(&s.protocol);
  s.protocol.PsLost(1, s.ps1);
  s.protocol.ShardsActivated(0, s.ps0, {{1, move.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_TRUE(s.protocol.AllActive());
  EXPECT_TRUE(s.protocol.TakeActions().empty());
}

TEST(Move, WhenTheHostIsLostWhileTheOwnerIsBack_TheShardIsRestoredThere) {
  Started s;
  s.protocol.CheckpointPlaced("3-1");
  s.protocol.PsLeaving(1, s.ps1);
  OnlyAssignment(&s.protocol);  // to ps 0, which never answers
  s.protocol.PsLost(1, s.ps1);
  Register(&s.protocol, 1, {201});
  EXPECT_TRUE(s.protocol.TakeActions().empty());
  s.protocol.PsLost(0, s.ps0);
  const AssignShardsAction restore = OnlyAssignment(&s.protocol);
  EXPECT_EQ(restore.ps, 1u);
  EXPECT_EQ(restore.shards[0].shard, 1u);
  EXPECT_EQ(restore.shards[0].source, AssignSource::kRestore);
}

TEST(Move, WhenDrainingOrAllIsCommitted_IsLeftToTheCheckpoint) {
  Started draining;
  draining.protocol.Drain();
  Started committed;
  for (const GrantedWorkId& grant : committed.protocol.Grants(0, 8)) {
    committed.protocol.Report(0, grant.work_id, AllNow(committed.protocol));
  }
  ASSERT_TRUE(committed.protocol.AllCommitted());
  for (Started* s : {&draining, &committed}) {
    s->protocol.PsLeaving(1, s->ps1);
    EXPECT_TRUE(s->protocol.TakeActions().empty());
    EXPECT_TRUE(s->protocol.CheckpointWanted());
  }
}

}  // namespace
}  // namespace pstrain
