#include <gtest/gtest.h>

#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllCheckpointShards;
using protocol_test::AllNow;
using protocol_test::Answer;
using protocol_test::Options;
using protocol_test::Register;
using protocol_test::Started;

TEST(Checkpoint, WhenATermChangesBeforeTheRename_IsAbandoned) {
  Started s;
  ASSERT_TRUE(s.protocol.StartCheckpoint().has_value());
  EXPECT_FALSE(s.protocol.StartCheckpoint().has_value());
  const auto checkpoint_shards = AllCheckpointShards(s.protocol);
  Register(&s.protocol, 0, {200});
  Answer(&s.protocol);
  EXPECT_EQ(s.protocol.FinishCheckpoint(checkpoint_shards).code(), StatusCode::kAborted);
  ASSERT_TRUE(s.protocol.StartCheckpoint().has_value());
  EXPECT_EQ(s.protocol.FinishCheckpoint({AllCheckpointShards(s.protocol)[0]}).code(),
            StatusCode::kAborted);
  ASSERT_TRUE(s.protocol.StartCheckpoint().has_value());
  EXPECT_TRUE(s.protocol.FinishCheckpoint(AllCheckpointShards(s.protocol)).ok());
}

TEST(Checkpoint, WhenInPlace_ClosesEpochsThatWereCompleteAtItsStart) {
  Started s;
  for (const GrantedWorkId& grant : s.protocol.Grants(0, 4)) {
    s.protocol.Report(0, grant.work_id, AllNow(s.protocol));
  }
  const auto first = s.protocol.StartCheckpoint();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->close_epochs_below, 0u);
  EXPECT_FALSE(first->final);
  ASSERT_EQ(first->ps.size(), 2u);
  ASSERT_TRUE(s.protocol.FinishCheckpoint(AllCheckpointShards(s.protocol)).ok());
  s.protocol.CheckpointPlaced("3-1");
  EXPECT_EQ(s.protocol.StartCheckpoint()->close_epochs_below, 1u);
}

TEST(Checkpoint, WhenAPsLeavesAndItsShardsCannotMove_IsWantedAndThenReleasesIt) {
  Started s;
  s.protocol.PsLeaving(0, s.ps0);  // its shard goes to ps 1, which dies
  s.protocol.PsLost(1, s.ps1);
  s.ps1 = Register(&s.protocol, 1, {102});
  s.protocol.PsLeaving(1, s.ps1);
  Answer(&s.protocol);
  EXPECT_TRUE(s.protocol.CheckpointWanted());
  EXPECT_EQ(s.protocol.RegisterPs(1, {201}, "a:1", {}, {}).status().code(),
            StatusCode::kUnavailable);
  ASSERT_TRUE(s.protocol.StartCheckpoint().has_value());
  ASSERT_TRUE(s.protocol.FinishCheckpoint(AllCheckpointShards(s.protocol)).ok());
  s.protocol.CheckpointPlaced("3-1");
  const auto actions = s.protocol.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[0]).ps, 0u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[1]).ps, 1u);
  EXPECT_FALSE(s.protocol.AllActive());
  EXPECT_FALSE(s.protocol.CheckpointWanted());
  Register(&s.protocol, 0, {200});
  Register(&s.protocol, 1, {201});
  Answer(&s.protocol);
  EXPECT_TRUE(s.protocol.AllActive());
}

ProtocolOptions IncrementalOptions() {
  ProtocolOptions options = Options();
  options.full_every = 3;
  return options;
}

// Takes a checkpoint and places it; returns what it builds on.
std::string TakeCheckpoint(CommitProtocol* protocol, const std::string& name,
                           std::uint64_t bytes = 100) {
  const auto plan = protocol->StartCheckpoint();
  EXPECT_TRUE(plan.has_value());
  const bool incremental = !plan->base.empty();
  const Status status =
      protocol->FinishCheckpoint(AllCheckpointShards(*protocol, incremental, bytes));
  EXPECT_TRUE(status.ok()) << status.ToString();
  protocol->CheckpointPlaced(name);
  return plan->base;
}

TEST(Base, IsTheNewestPlacedCheckpointUntilFullEvery) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-1"), "");
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-2", 10), "3-1");
  ASSERT_EQ(s.protocol.StartCheckpoint()->base, "3-2");
  s.protocol.CheckpointFailed();
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-4", 10), "3-2");
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-5"), "");
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-6"), "3-5");
}

TEST(Base, WhenIncrementsAreMoreThanHalfOfTheWhole_IsNone) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-1", 100), "");
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-2", 51), "3-1");
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-3", 100), "");
}

TEST(Base, OfTheFirstCheckpointOfAChiefAndOfTheFinalOne_IsNone) {
  ProtocolOptions options = IncrementalOptions();
  options.checkpoints = {"2-1"};
  Started s(options);
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-1"), "");
  for (const GrantedWorkId& grant : s.protocol.Grants(0, 8)) {
    s.protocol.Report(0, grant.work_id, AllNow(s.protocol));
  }
  const auto plan = s.protocol.StartCheckpoint();
  EXPECT_TRUE(plan->final);
  EXPECT_EQ(plan->base, "");
}

TEST(Base, WhenItWasFoundUnreadable_IsNone) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-1"), "");
  ASSERT_EQ(s.protocol.StartCheckpoint()->base, "3-1");
  s.protocol.CheckpointRemoved("3-1");
  EXPECT_EQ(s.protocol.FinishCheckpoint(AllCheckpointShards(s.protocol, true)).code(),
            StatusCode::kAborted);
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-3"), "");
}

TEST(Base, WhenAShardHasANewerTerm_ItsCheckpointShardMustBeWhole) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCheckpoint(&s.protocol, "3-1"), "");
  Register(&s.protocol, 0, {200});
  Answer(&s.protocol);
  ASSERT_EQ(s.protocol.StartCheckpoint()->base, "3-1");
  std::vector<WrittenCheckpointShard> checkpoint_shards = AllCheckpointShards(s.protocol, true);
  EXPECT_EQ(s.protocol.FinishCheckpoint(checkpoint_shards).code(), StatusCode::kAborted);
  ASSERT_EQ(s.protocol.StartCheckpoint()->base, "3-1");
  checkpoint_shards[0].incremental = false;
  EXPECT_TRUE(s.protocol.FinishCheckpoint(checkpoint_shards).ok());
}

}  // namespace
}  // namespace pstrain
