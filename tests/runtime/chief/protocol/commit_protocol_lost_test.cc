// Shards that are lost with their ps, of a run that wants to return to its mark then.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllNow;
using protocol_test::AllTerms;
using protocol_test::Answer;
using protocol_test::Applied;
using protocol_test::Options;
using protocol_test::Register;
using protocol_test::Started;

ProtocolOptions ReturningOptions() {
  ProtocolOptions options = Options();
  options.return_when_lost = true;
  options.checkpoints = {"2-1"};
  return options;
}

/// The first of them; nothing assigned beside it, or empty: there is none.
std::string ReturnOf(CommitProtocol& protocol) {
  std::string why;
  int returns = 0;
  int assigned = 0;
  for (const ProtocolAction& action : protocol.TakeActions()) {
    if (const auto* returned = std::get_if<ReturnToMarkAction>(&action)) {
      why = returned->why;
      ++returns;
    }
    if (std::get_if<AssignShardsAction>(&action) != nullptr) ++assigned;
  }
  EXPECT_LE(returns, 1);
  EXPECT_TRUE(returns == 0 || assigned == 0);
  return why;
}

TEST(LostShards, WhenTheRunBegins_AllAreRestored) {
  Started started(ReturningOptions(), Applied({{0, 0}}));
  EXPECT_TRUE(started.protocol.AllActive());
  EXPECT_EQ(started.protocol.Progress().work_ids_committed, 1U);
}

TEST(LostShards, WhenAPsComesBackWithNothing_TheRunReturnsToItsMark) {
  Started s(ReturningOptions());
  s.protocol.PsLost(1, s.ps1);
  EXPECT_EQ(ReturnOf(s.protocol), "") << "it may come back with what it has";
  Register(&s.protocol, 1, {201});
  EXPECT_EQ(ReturnOf(s.protocol),
            "shard 1 was lost with its ps 1, and is not restored from a checkpoint");
  EXPECT_FALSE(s.protocol.AllActive());
  EXPECT_TRUE(s.protocol.Grants(0, 8).empty());
  s.protocol.PsLost(0, s.ps0);
  Register(&s.protocol, 0, {200});
  EXPECT_EQ(ReturnOf(s.protocol), "") << "it is said once";
}

TEST(LostShards, WhenThePsStillHasItsCopy_TheRunGoesOn) {
  Started s(ReturningOptions());
  const std::vector<ShardInTerm> before = AllTerms(s.protocol);
  s.protocol.PsLost(1, s.ps1);
  Register(&s.protocol, 1, {101}, {{1, before[1].term, true, Applied({}), 0}});
  const auto assigned = Answer(&s.protocol, Applied({}));
  ASSERT_EQ(assigned.size(), 1U);
  EXPECT_EQ(assigned[0].shards.at(0).source, AssignSource::kKeep);
  EXPECT_TRUE(s.protocol.AllActive());
}

TEST(LostShards, WhenAShardMoves_TheRunGoesOn) {
  Started s(ReturningOptions());
  s.protocol.PsLeaving(1, s.ps1);
  const auto assigned = Answer(&s.protocol, Applied({}));
  ASSERT_FALSE(assigned.empty());
  EXPECT_EQ(assigned[0].shards.at(0).source, AssignSource::kMove);
  EXPECT_TRUE(s.protocol.AllActive());
  EXPECT_EQ(ReturnOf(s.protocol), "");
}

TEST(LostShards, WhenACheckpointIsDamagedAtTheStart_TheOneBeforeIsTaken) {
  ProtocolOptions options = ReturningOptions();
  options.checkpoints = {"2-2", "2-1"};
  CommitProtocol protocol(options);
  Register(&protocol, 0, {100});
  Register(&protocol, 1, {101});
  const auto first = std::get<AssignShardsAction>(protocol.TakeActions().at(0));
  protocol.AssignFailed(0, first.incarnation, first, true);
  const auto actions = protocol.TakeActions();
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<AssignShardsAction>(actions[0]).checkpoint, "2-1");
}

TEST(LostShards, WhenTheRunDrains_ItIsNotReturned) {
  Started s(ReturningOptions());
  s.protocol.Drain();
  s.protocol.PsLost(1, s.ps1);
  Register(&s.protocol, 1, {201});
  EXPECT_EQ(Answer(&s.protocol, Applied({})).size(), 1U);
  EXPECT_TRUE(s.protocol.AllActive());
}

TEST(LostShards, WithoutThat_TheyAreRestored) {
  ProtocolOptions options = ReturningOptions();
  options.return_when_lost = false;
  Started s(options);
  s.protocol.PsLost(1, s.ps1);
  Register(&s.protocol, 1, {201});
  EXPECT_EQ(Answer(&s.protocol, Applied({})).size(), 1U);
  EXPECT_TRUE(s.protocol.AllActive());
}

}  // namespace
}  // namespace pstrain
