#include <gtest/gtest.h>

#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::Answer;
using protocol_test::Applied;
using protocol_test::Register;
using protocol_test::Started;

// Where the shards are, by index.
std::vector<std::uint32_t> Owners(const CommitProtocol& protocol) {
  std::vector<std::uint32_t> owners;
  for (const MembershipView::Shard& shard : protocol.membership().shards) {
    owners.push_back(shard.ps);
  }
  return owners;
}

StatusCode CodeOfRegistration(CommitProtocol* protocol, std::uint32_t index, PeerProcess process,
                              std::vector<ShardCopy> copies = {}) {
  return protocol->RegisterPs(index, process, "a:1", std::move(copies), {}).status().code();
}

// Four shards on two ps.
ProtocolOptions FourShards() {
  ProtocolOptions options = protocol_test::Options();
  options.shards = 4;
  options.shard_to_ps = {0, 1, 0, 1};
  return options;
}

TEST(Scale, WhenRaised_TheNewPsMayRegisterAndGetsItsShardsByMoves) {
  Started s(FourShards());
  EXPECT_EQ(CodeOfRegistration(&s.protocol, 2, {102}), StatusCode::kInvalidArgument);
  s.protocol.SetPsCount(3, {0, 1, 2, 0});
  // Shard 3 moves immediately, shard 2 waits for its home, and is trained where it is.
  EXPECT_EQ(Answer(&s.protocol).size(), 1u);
  EXPECT_EQ(Owners(s.protocol), (std::vector<std::uint32_t>{0, 1, 0, 0}));
  Answer(&s.protocol);  // the drop of the former copy
  EXPECT_TRUE(s.protocol.AllActive());
  EXPECT_EQ(s.protocol.Grants(0, 1).size(), 1u);
  Register(&s.protocol, 2, {102});
  const auto assigned = Answer(&s.protocol, Applied({{0, 0}}));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].ps, 2u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kMove);
  EXPECT_EQ(Owners(s.protocol), (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(Scale, WhileTheNewPsHasNotCome_TheJobDoesNotDependOnIt) {
  Started s;
  s.protocol.CheckpointPlaced("3-1");
  s.protocol.SetPsCount(3, {0, 2});
  EXPECT_TRUE(s.protocol.TakeActions().empty());
  s.protocol.PsLost(1, s.ps1);
  s.ps1 = Register(&s.protocol, 1, {201});
  const auto restored = Answer(&s.protocol);
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_EQ(restored[0].ps, 1u);
  EXPECT_EQ(restored[0].shards[0].source, AssignSource::kRestore);
  EXPECT_TRUE(s.protocol.AllActive());
  Register(&s.protocol, 2, {102});
  const auto moved = Answer(&s.protocol);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].ps, 2u);
  EXPECT_EQ(moved[0].shards[0].source, AssignSource::kMove);
}

TEST(Scale, WhenLowered_TheSurplusPsIsEmptiedWhileItServesAndReleasedWhenItLeaves) {
  Started s;
  s.protocol.SetPsCount(1, {0, 0});
  const auto moves = Answer(&s.protocol);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].shards[0].source, AssignSource::kMove);
  EXPECT_EQ(Owners(s.protocol), (std::vector<std::uint32_t>{0, 0}));
  const auto drop = Answer(&s.protocol);
  ASSERT_EQ(drop.size(), 1u);
  EXPECT_EQ(drop[0].ps, 1u);
  EXPECT_TRUE(s.protocol.PsKnown(1, s.ps1)) << "who stops it is not the chief";
  EXPECT_TRUE(s.protocol.TakeActions().empty());
  EXPECT_EQ(Register(&s.protocol, 1, {101}), s.ps1) << "the reply was lost";
  EXPECT_EQ(CodeOfRegistration(&s.protocol, 1, {201, 1}), StatusCode::kInvalidArgument);
  s.protocol.PsLeaving(1, s.ps1);
  const auto actions = s.protocol.TakeActions();
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[0]).ps, 1u);
}

TEST(Scale, WhenLoweredAndTheSurplusPsIsLostBeforeItIsEmpty_ItsShardsAreRestoredOnTheirNewHomes) {
  Started s;
  s.protocol.CheckpointPlaced("3-1");
  s.protocol.SetPsCount(1, {0, 0});
  const auto moves = s.protocol.TakeActions();
  s.protocol.PsLost(1, s.ps1);
  s.protocol.AssignFailed(0, s.ps0, std::get<AssignShardsAction>(moves.at(0)), false);
  const auto restored = Answer(&s.protocol);
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_EQ(restored[0].ps, 0u);
  EXPECT_EQ(restored[0].shards[0].source, AssignSource::kRestore);
  EXPECT_TRUE(s.protocol.AllActive());
}

TEST(Scale, WhenLoweredWhileAShardIsVacant_TheShardIsRestoredOnItsNewHome) {
  Started s;
  s.protocol.CheckpointPlaced("3-1");
  s.protocol.PsLost(1, s.ps1);
  EXPECT_TRUE(s.protocol.TakeActions().empty()) << "it waits for its home";
  s.protocol.SetPsCount(1, {0, 0});
  const auto restored = Answer(&s.protocol);
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_EQ(restored[0].shards[0].source, AssignSource::kRestore);
  EXPECT_TRUE(s.protocol.AllActive());
}

TEST(Scale, WhenRaisedAgainBeforeTheSurplusPsHasLeft_ItGetsItsShardsBack) {
  Started s;
  s.protocol.SetPsCount(1, {0, 0});
  Answer(&s.protocol);
  Answer(&s.protocol);
  s.protocol.SetPsCount(2, {0, 1});
  const auto moves = Answer(&s.protocol);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].ps, 1u);
  EXPECT_EQ(Owners(s.protocol), (std::vector<std::uint32_t>{0, 1}));
}

TEST(Scale, WhenASurplusPsBringsCopiesToANewChief_TheyAreKeptAndMoved) {
  ProtocolOptions options = protocol_test::Options();
  options.ps_count = 1;
  options.shard_to_ps = {0, 0};
  options.checkpoints = {"2-1"};
  CommitProtocol protocol(options);
  const ShardTerm term{2, 5};
  const AppliedSet applied = Applied({{0, 0}, {0, 1}});
  const Incarnation surplus = Register(&protocol, 1, {101}, {{1, term, true, applied, 0}});
  EXPECT_TRUE(protocol.joining()) << "the ps that the job wants is missing";
  Register(&protocol, 0, {100}, {{0, term, true, applied, 0}});
  EXPECT_FALSE(protocol.joining());
  const auto kept = Answer(&protocol, applied);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1].ps, 1u);
  EXPECT_EQ(kept[1].shards[0].source, AssignSource::kKeep);
  Answer(&protocol, applied);
  EXPECT_EQ(Owners(protocol), (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(protocol.Progress().work_ids_reopened, 0u);
  protocol.PsLeaving(1, surplus);
  EXPECT_FALSE(protocol.PsKnown(1, surplus));
}

TEST(Scale, WhileJoining_ChangesForWhomTheChiefWaits) {
  CommitProtocol protocol(protocol_test::Options());
  Register(&protocol, 0, {100});
  EXPECT_TRUE(protocol.joining());
  protocol.SetPsCount(1, {0, 0});
  protocol.Tick({});
  EXPECT_FALSE(protocol.joining());
  Answer(&protocol);
  EXPECT_TRUE(protocol.AllActive());
}

TEST(Scale, WhileDraining_MovesNothing) {
  Started s;
  s.protocol.Drain();
  s.protocol.SetPsCount(1, {0, 0});
  EXPECT_TRUE(s.protocol.TakeActions().empty());
}

}  // namespace
}  // namespace pstrain
