#include <gtest/gtest.h>

#include "tests/coordinator/core_test_support.h"

namespace pstrain {
namespace {

using core_test::AllTerms;
using core_test::Answer;
using core_test::Applied;
using core_test::Register;
using core_test::Started;

// The only action: an assignment.
AssignShardsAction OnlyAssignment(Core* core) {
  const auto actions = core->TakeActions();
  EXPECT_EQ(actions.size(), 1u);
  return std::get<AssignShardsAction>(actions.at(0));
}

TEST(Move, WhenAPsLeaves_ItsShardsGoToAnotherWithoutACutAndItIsReleased) {
  Started s;
  const Term before = s.core.membership().shards[1].term;
  s.core.PsLeaving(1, s.ps1);
  EXPECT_FALSE(s.core.CutWanted());
  EXPECT_TRUE(s.core.Grants(0, 1).empty());
  const AssignShardsAction move = OnlyAssignment(&s.core);
  EXPECT_EQ(move.ps, 0u);
  ASSERT_EQ(move.shards.size(), 1u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
  EXPECT_EQ(move.shards[0].from, "a:1");
  EXPECT_EQ(move.shards[0].from_term, before);
  const AppliedSet applied = Applied({{0, 0}, {0, 1}});
  s.core.ShardsActivated(0, s.ps0, {{1, move.shards[0].term, true, applied, 20}});
  EXPECT_TRUE(s.core.AllActive());
  EXPECT_EQ(s.core.Grants(0, 1).size(), 1u);
  const auto actions = s.core.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  const auto& drop = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(drop.ps, 1u);
  EXPECT_EQ(drop.shards[0], (Assignment{1, before, AssignSource::kDrop, {}, {}}));
  EXPECT_EQ(std::get<ReleasePsAction>(actions[1]).ps, 1u);
}

TEST(Move, WhenTheNextAttemptComes_ItsShardsComeBack) {
  Started s;
  s.core.PsLeaving(1, s.ps1);
  Answer(&s.core);
  s.core.TakeActions();
  ASSERT_TRUE(s.core.AllActive());
  s.ps1 = Register(&s.core, 1, {201});
  const AssignShardsAction move = OnlyAssignment(&s.core);
  EXPECT_EQ(move.ps, 1u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
  s.core.ShardsActivated(1, s.ps1, {{1, move.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_EQ(s.core.membership().shards[1].ps, 1u);
  const AssignShardsAction drop = OnlyAssignment(&s.core);
  EXPECT_EQ(drop.ps, 0u);
  EXPECT_EQ(drop.shards[0].source, AssignSource::kDrop);
}

TEST(Move, WhenItFailsOrTheTargetIsLost_TheFormerOwnerKeepsTheShardUnderANewTerm) {
  for (const bool target_lost : {false, true}) {
    Started s;
    const Term before = s.core.membership().shards[1].term;
    s.core.PsLeaving(1, s.ps1);
    const AssignShardsAction move = OnlyAssignment(&s.core);
    if (target_lost) {
      s.core.PsLost(0, s.ps0);
    } else {
      s.core.AssignFailed(0, s.ps0, move, false);
    }
    const AssignShardsAction keep = OnlyAssignment(&s.core);
    EXPECT_EQ(keep.ps, 1u);
    EXPECT_EQ(keep.shards[0].source, AssignSource::kKeep);
    EXPECT_GT(keep.shards[0].term, before);
    s.core.ShardsActivated(1, s.ps1, {{1, keep.shards[0].term, true, AppliedSet(4), 0}});
    EXPECT_TRUE(s.core.membership().shards[1].active);
    EXPECT_TRUE(s.core.TakeActions().empty()) << "it is not tried again at once";
    EXPECT_EQ(s.core.CutWanted(), !target_lost) << "the cut is the other way to leave";
  }
}

TEST(Move, WhenTheSourceIsLostBeforeItsCopyWasTaken_TheShardIsRestored) {
  Started s;
  s.core.CutPlaced("3-1");
  s.core.PsLeaving(1, s.ps1);
  const AssignShardsAction move = OnlyAssignment(&s.core);
  s.core.PsLost(1, s.ps1);
  s.core.AssignFailed(0, s.ps0, move, false);
  EXPECT_TRUE(s.core.TakeActions().empty());
  Register(&s.core, 1, {201});
  const AssignShardsAction restore = OnlyAssignment(&s.core);
  EXPECT_EQ(restore.ps, 1u);
  EXPECT_EQ(restore.shards[0].source, AssignSource::kRestore);
}

TEST(Move, WhenTheSourceIsLostAfterItsCopyWasTaken_TheTargetHasIt) {
  Started s;
  s.core.PsLeaving(1, s.ps1);
  const AssignShardsAction move = OnlyAssignment(&s.core);
  s.core.PsLost(1, s.ps1);
  s.core.ShardsActivated(0, s.ps0, {{1, move.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_TRUE(s.core.AllActive());
  EXPECT_TRUE(s.core.TakeActions().empty());
}

TEST(Move, WhenTheHostIsLostWhileTheOwnerIsBack_TheShardIsRestoredThere) {
  Started s;
  s.core.CutPlaced("3-1");
  s.core.PsLeaving(1, s.ps1);
  OnlyAssignment(&s.core);  // to ps 0, which never answers
  s.core.PsLost(1, s.ps1);
  Register(&s.core, 1, {201});
  EXPECT_TRUE(s.core.TakeActions().empty());
  s.core.PsLost(0, s.ps0);
  const AssignShardsAction restore = OnlyAssignment(&s.core);
  EXPECT_EQ(restore.ps, 1u);
  EXPECT_EQ(restore.shards[0].shard, 1u);
  EXPECT_EQ(restore.shards[0].source, AssignSource::kRestore);
}

TEST(Move, WhenDrainingOrAllIsCommitted_IsLeftToTheCut) {
  Started draining;
  draining.core.Drain();
  Started committed;
  for (const GrantedToken& grant : committed.core.Grants(0, 8)) {
    committed.core.Report(0, grant.token, AllTerms(committed.core));
  }
  ASSERT_TRUE(committed.core.AllCommitted());
  for (Started* s : {&draining, &committed}) {
    s->core.PsLeaving(1, s->ps1);
    EXPECT_TRUE(s->core.TakeActions().empty());
    EXPECT_TRUE(s->core.CutWanted());
  }
}

}  // namespace
}  // namespace pstrain
