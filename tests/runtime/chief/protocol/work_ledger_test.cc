#include "runtime/chief/protocol/work_ledger.h"

#include <gtest/gtest.h>

#include <set>

namespace pstrain {
namespace {

ProtocolOptions Options(std::uint32_t shards, std::uint32_t epochs, std::uint32_t batches) {
  ProtocolOptions options;
  options.shards = shards;
  options.epochs = epochs;
  options.batches_per_epoch = batches;
  return options;
}

TEST(WorkIdSet, WhenTheLastWorkIdOfAChunkGoes_IsEmpty) {
  WorkIdSet set;
  set.Insert({1, 700});
  EXPECT_TRUE(set.Contains({1, 700}));
  EXPECT_FALSE(set.Contains({0, 700}));
  EXPECT_EQ(set.Word(1, 700 / 64), std::uint64_t{1} << (700 % 64));
  set.Erase({1, 700});
  EXPECT_TRUE(set.empty());
}

TEST(WorkLedger, WhenAnOrderIsGiven_GrantsInThatOrderThroughAllEpochs) {
  ProtocolOptions options = Options(1, 2, 5);
  options.order = [](std::uint32_t epoch, std::uint32_t position) {
    return epoch == 0 ? 4 - position : position;
  };
  WorkLedger ledger(options);
  ledger.SetShard(0, AppliedSet(5));
  const auto grants = ledger.Grant(0, 100);
  ASSERT_EQ(grants.size(), 10u);
  EXPECT_EQ(grants.front().work_id, (WorkId{0, 4}));
  EXPECT_EQ(grants[5].work_id, (WorkId{1, 0}));
}

/// Batches 0 to 3 are block 0, 4 to 7 block 1 and so on.
ProtocolOptions InBlocksOfFour(std::uint32_t batches) {
  ProtocolOptions options = Options(1, 1, batches);
  options.block = [](std::uint32_t batch) { return batch / 4; };
  return options;
}

std::vector<std::uint32_t> Batches(const std::vector<GrantedWorkId>& grants) {
  std::vector<std::uint32_t> batches;
  for (const GrantedWorkId& grant : grants) batches.push_back(grant.work_id.batch);
  return batches;
}

TEST(WorkLedger, WhenThereAreBlocks_AWorkerKeepsToItsOwn) {
  WorkLedger ledger(InBlocksOfFour(16));
  ledger.SetShard(0, AppliedSet(16));
  EXPECT_EQ(Batches(ledger.Grant(0, 3)), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(Batches(ledger.Grant(1, 2)), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(Batches(ledger.Grant(0, 3)), (std::vector<std::uint32_t>{3, 8, 9}));
  EXPECT_EQ(Batches(ledger.Grant(1, 2)), (std::vector<std::uint32_t>{6, 7}));
}

TEST(WorkLedger, WhenOnlyOthersBlocksAreLeft_TakesFromTheirEnd) {
  WorkLedger ledger(InBlocksOfFour(8));
  ledger.SetShard(0, AppliedSet(8));
  EXPECT_EQ(Batches(ledger.Grant(0, 1)), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(Batches(ledger.Grant(1, 6)), (std::vector<std::uint32_t>{4, 5, 6, 7, 3, 2}));
  EXPECT_EQ(Batches(ledger.Grant(0, 4)), (std::vector<std::uint32_t>{1}));
}

TEST(WorkLedger, WhenAWorkerIsLost_ItsBlockGoesToOthers) {
  WorkLedger ledger(InBlocksOfFour(4));
  ledger.SetShard(0, AppliedSet(4));
  EXPECT_EQ(ledger.Grant(0, 2).size(), 2u);
  ledger.ReturnAll(0);
  EXPECT_EQ(ledger.Grant(1, 10).size(), 4u);
}

// They are the oldest: some shards may have applied them already.
TEST(WorkLedger, WhenAWorkerIsLost_WhatItHadInFlightComesBeforeTheRestOfItsBlock) {
  WorkLedger ledger(InBlocksOfFour(8));
  ledger.SetShard(0, AppliedSet(8));
  EXPECT_EQ(Batches(ledger.Grant(0, 2)), (std::vector<std::uint32_t>{0, 1}));
  ledger.ReturnAll(0);
  EXPECT_EQ(Batches(ledger.Grant(1, 5)), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(WorkLedger, WhenAShardIsRestored_ReservedWorkIdsAreGrantedOnce) {
  WorkLedger ledger(InBlocksOfFour(8));
  ledger.SetShard(0, AppliedSet(8));
  EXPECT_EQ(ledger.Grant(0, 1).size(), 1u);
  EXPECT_EQ(ledger.Grant(1, 1).size(), 1u);
  EXPECT_TRUE(ledger.Report(0, {0, 0}, {0}));
  ledger.SetShard(0, AppliedSet(8));  // lost batch 0, and the cursor is back at the start
  std::multiset<std::uint32_t> granted{4};
  for (const std::uint32_t worker : {0U, 1U, 2U}) {
    for (const std::uint32_t batch : Batches(ledger.Grant(worker, 3))) granted.insert(batch);
  }
  EXPECT_EQ(granted, (std::multiset<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(WorkLedger, WhenTwoWorkersHoldAWorkId_ItComesBackAfterBothReturnIt) {
  WorkLedger ledger(Options(1, 1, 1));
  ledger.SetShard(0, AppliedSet(1));
  ledger.AddInFlight(0, {0, 0});
  ledger.AddInFlight(1, {0, 0});
  ledger.ReturnAll(0);
  EXPECT_TRUE(ledger.Grant(2, 1).empty());
  ledger.Return(1, {0, 0});
  EXPECT_EQ(ledger.Grant(2, 1).size(), 1u);
}

TEST(WorkLedger, WhenShardsComeWithDifferentSets_GrantsNameThoseThatLackTheWorkId) {
  WorkLedger ledger(Options(3, 1, 3));
  AppliedSet one(3);
  one.Insert({0, 0});
  AppliedSet two = one;
  two.Insert({0, 1});
  ledger.SetShard(0, one);
  ledger.SetShard(1, two);
  ledger.SetShard(2, two);
  EXPECT_EQ(ledger.work_ids_committed(), 1u);
  const auto grants = ledger.Grant(0, 3);
  ASSERT_EQ(grants.size(), 2u);
  EXPECT_EQ(grants[0].work_id, (WorkId{0, 1}));
  EXPECT_EQ(grants[0].shards, (std::vector<ShardId>{0}));
  EXPECT_TRUE(grants[1].shards.empty());
}

TEST(WorkLedger, WhenAWorkIdInFlightIsCommittedByAnother_ItIsWithNobody) {
  WorkLedger ledger(Options(1, 1, 2));
  ledger.SetShard(0, AppliedSet(2));
  ledger.AddInFlight(0, {0, 0});
  ledger.AddInFlight(1, {0, 0});
  EXPECT_TRUE(ledger.Report(1, {0, 0}, {0}));
  EXPECT_EQ(ledger.in_flight(), 0u);
  EXPECT_EQ(ledger.in_flight_of(0), 0u);
}

TEST(WorkLedger, WhenANewCopyHasAWorkIdInFlight_ItIsWithNobodyAndMayBeReopened) {
  WorkLedger ledger(Options(1, 1, 1));
  ledger.SetShard(0, AppliedSet(1));
  EXPECT_EQ(ledger.Grant(0, 1).size(), 1u);
  AppliedSet full(1);
  full.Insert({0, 0});
  ledger.SetShard(0, full);
  EXPECT_TRUE(ledger.AllCommitted());
  EXPECT_EQ(ledger.in_flight(), 0u);
  ledger.SetShard(0, AppliedSet(1));
  EXPECT_EQ(ledger.Grant(1, 1).size(), 1u);
}

TEST(WorkLedger, WhenTwoMillionBatchesAreReopenedForOneShard_GrantsThemAllOnce) {
  constexpr std::uint32_t kBatches = 2'000'000;
  WorkLedger ledger(Options(4, 1, kBatches));
  AppliedSet full(kBatches);
  for (std::uint32_t b = 0; b < kBatches; ++b) full.Insert({0, b});
  for (ShardId s = 0; s < 4; ++s) ledger.SetShard(s, full);
  EXPECT_TRUE(ledger.AllCommitted());
  EXPECT_EQ(ledger.CompleteEpochs(), 1u);
  ledger.SetShard(2, AppliedSet(kBatches));
  EXPECT_EQ(ledger.work_ids_reopened(), kBatches);
  const auto grants = ledger.Grant(0, 3);
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_EQ(grants[0].shards, (std::vector<ShardId>{2}));
  for (std::uint32_t b = 0; b < kBatches; ++b) ledger.Report(0, {0, b}, {2});
  EXPECT_TRUE(ledger.AllCommitted());
}

TEST(WorkLedger, WhenAWorkIdIsShared_OneOtherWorkerGetsItAndTheFirstReportCounts) {
  WorkLedger ledger(Options(2, 1, 3));
  ledger.SetShard(0, AppliedSet(3));
  ledger.SetShard(1, AppliedSet(3));
  ASSERT_EQ(Batches(ledger.Grant(0, 2)), (std::vector<std::uint32_t>{0, 1}));
  ledger.Share(0, {0, 1});
  ledger.Share(0, {0, 2});  // not with worker 0
  EXPECT_EQ(Batches(ledger.Grant(0, 3)), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(Batches(ledger.Grant(1, 3)), (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(ledger.Grant(2, 3).empty()) << "once for each Share";
  EXPECT_EQ(ledger.in_flight(), 3u);
  EXPECT_EQ(ledger.examples_in_flight(), 3);
  EXPECT_TRUE(ledger.Report(1, {0, 1}, {0, 1}));
  EXPECT_EQ(ledger.in_flight_of(0), 2u);
  EXPECT_EQ(ledger.in_flight_of(1), 0u);
  EXPECT_EQ(ledger.examples_in_flight(), 2);
}

TEST(WorkLedger, WhenASharedWorkIdHasLanded_IsNotGrantedTwice) {
  WorkLedger ledger(Options(1, 1, 2));
  ledger.SetShard(0, AppliedSet(2));
  ASSERT_EQ(ledger.Grant(0, 2).size(), 2u);
  ledger.Share(0, {0, 0});
  ledger.Share(0, {0, 1});
  ASSERT_TRUE(ledger.Report(0, {0, 0}, {0}));
  ledger.ReturnAll(0);
  EXPECT_EQ(Batches(ledger.Grant(1, 3)), (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(ledger.Grant(2, 3).empty());
}

}  // namespace
}  // namespace pstrain
