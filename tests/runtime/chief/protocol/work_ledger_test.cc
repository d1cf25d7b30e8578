#include "runtime/chief/protocol/work_ledger.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "runtime/chief/protocol/closure_source.h"
#include "runtime/chief/protocol/input_source.h"

namespace pstrain {
namespace {

/// Of a run with so many shards, these.
ShardSet Set(std::uint32_t shards, const std::vector<ShardId>& named) {
  ShardSet set(shards);
  for (const ShardId shard : named) set.Add(shard);
  return set;
}

/// Of an input without blocks.
WorkLedger Ledger(std::uint32_t shards, std::uint32_t epochs, std::uint32_t batches) {
  return {shards,
          std::make_shared<InputSource>(InputWork{.epochs = epochs, .batches_per_epoch = batches})};
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
  InputWork input{.epochs = 2, .batches_per_epoch = 5};
  input.order = [](std::uint32_t epoch, std::uint32_t position) {
    return epoch == 0 ? 4 - position : position;
  };
  WorkLedger ledger(1, std::make_shared<InputSource>(input));
  ledger.SetShard(0, AppliedSet(5));
  const auto grants = ledger.Grant(0, 100);
  ASSERT_EQ(grants.size(), 10u);
  EXPECT_EQ(grants.front().work_id, (WorkId{0, 4}));
  EXPECT_EQ(grants[5].work_id, (WorkId{1, 0}));
}

/// Batches 0 to 3 are block 0, 4 to 7 block 1 and so on.
WorkLedger InBlocksOfFour(std::uint32_t batches) {
  InputWork input{.epochs = 1, .batches_per_epoch = batches};
  input.block = [](std::uint32_t batch) { return batch / 4; };
  return {1, std::make_shared<InputSource>(input)};
}

std::vector<std::uint32_t> Batches(const std::vector<GrantedWorkId>& grants) {
  std::vector<std::uint32_t> batches;
  for (const GrantedWorkId& grant : grants) batches.push_back(grant.work_id.batch);
  return batches;
}

TEST(WorkLedger, WhenThereAreBlocks_AWorkerKeepsToItsOwn) {
  WorkLedger ledger = InBlocksOfFour(16);
  ledger.SetShard(0, AppliedSet(16));
  EXPECT_EQ(Batches(ledger.Grant(0, 3)), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(Batches(ledger.Grant(1, 2)), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(Batches(ledger.Grant(0, 3)), (std::vector<std::uint32_t>{3, 8, 9}));
  EXPECT_EQ(Batches(ledger.Grant(1, 2)), (std::vector<std::uint32_t>{6, 7}));
}

TEST(WorkLedger, WhenOnlyOthersBlocksAreLeft_TakesFromTheirEnd) {
  WorkLedger ledger = InBlocksOfFour(8);
  ledger.SetShard(0, AppliedSet(8));
  EXPECT_EQ(Batches(ledger.Grant(0, 1)), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(Batches(ledger.Grant(1, 6)), (std::vector<std::uint32_t>{4, 5, 6, 7, 3, 2}));
  EXPECT_EQ(Batches(ledger.Grant(0, 4)), (std::vector<std::uint32_t>{1}));
}

TEST(WorkLedger, WhenAWorkerIsLost_ItsBlockGoesToOthers) {
  WorkLedger ledger = InBlocksOfFour(4);
  ledger.SetShard(0, AppliedSet(4));
  EXPECT_EQ(ledger.Grant(0, 2).size(), 2u);
  ledger.ReturnAll(0);
  EXPECT_EQ(ledger.Grant(1, 10).size(), 4u);
}

// They are the oldest: some shards may have applied them already.
TEST(WorkLedger, WhenAWorkerIsLost_WhatItHadInFlightComesBeforeTheRestOfItsBlock) {
  WorkLedger ledger = InBlocksOfFour(8);
  ledger.SetShard(0, AppliedSet(8));
  EXPECT_EQ(Batches(ledger.Grant(0, 2)), (std::vector<std::uint32_t>{0, 1}));
  ledger.ReturnAll(0);
  EXPECT_EQ(Batches(ledger.Grant(1, 5)), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(WorkLedger, Open_CountsWhatNobodyHoldsAndWhatIsToBeShared) {
  WorkLedger ledger = Ledger(1, 1, 8);
  EXPECT_EQ(ledger.open(), 8U);
  ledger.SetShard(0, AppliedSet(8));
  ledger.Grant(0, 3);
  EXPECT_EQ(ledger.open(), 5U);
  EXPECT_TRUE(ledger.Report(0, {0, 0}, ShardSet::All(1)));
  EXPECT_EQ(ledger.open(), 5U);
  ledger.Share(0, {0, 1});
  EXPECT_EQ(ledger.open(), 6U);
  ledger.ReturnAll(0);
  EXPECT_EQ(ledger.open(), 7U);
  EXPECT_EQ(ledger.Grant(1, 100).size(), 7U);
  EXPECT_EQ(ledger.open(), 0U);
}

TEST(WorkLedger, WhenAShardIsRestored_ReservedWorkIdsAreGrantedOnce) {
  WorkLedger ledger = InBlocksOfFour(8);
  ledger.SetShard(0, AppliedSet(8));
  EXPECT_EQ(ledger.Grant(0, 1).size(), 1u);
  EXPECT_EQ(ledger.Grant(1, 1).size(), 1u);
  EXPECT_TRUE(ledger.Report(0, {0, 0}, ShardSet::All(1)));
  ledger.SetShard(0, AppliedSet(8));  // lost batch 0, and the cursor is back at the start
  std::multiset<std::uint32_t> granted{4};
  for (const std::uint32_t worker : {0U, 1U, 2U}) {
    for (const std::uint32_t batch : Batches(ledger.Grant(worker, 3))) granted.insert(batch);
  }
  EXPECT_EQ(granted, (std::multiset<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(WorkLedger, WhenTwoWorkersHoldAWorkId_ItComesBackAfterBothReturnIt) {
  WorkLedger ledger = Ledger(1, 1, 1);
  ledger.SetShard(0, AppliedSet(1));
  ledger.AddInFlight(0, {0, 0});
  ledger.AddInFlight(1, {0, 0});
  ledger.ReturnAll(0);
  EXPECT_TRUE(ledger.Grant(2, 1).empty());
  ledger.Return(1, {0, 0});
  EXPECT_EQ(ledger.Grant(2, 1).size(), 1u);
}

TEST(WorkLedger, WhenShardsComeWithDifferentSets_GrantsNameThoseThatLackTheWorkId) {
  WorkLedger ledger = Ledger(3, 1, 3);
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
  WorkLedger ledger = Ledger(1, 1, 2);
  ledger.SetShard(0, AppliedSet(2));
  ledger.AddInFlight(0, {0, 0});
  ledger.AddInFlight(1, {0, 0});
  EXPECT_TRUE(ledger.Report(1, {0, 0}, ShardSet::All(1)));
  EXPECT_EQ(ledger.in_flight(), 0u);
  EXPECT_EQ(ledger.in_flight_of(0), 0u);
}

TEST(WorkLedger, WhenANewCopyHasAWorkIdInFlight_ItIsWithNobodyAndMayBeReopened) {
  WorkLedger ledger = Ledger(1, 1, 1);
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
  WorkLedger ledger = Ledger(4, 1, kBatches);
  AppliedSet full(kBatches);
  for (std::uint32_t b = 0; b < kBatches; ++b) full.Insert({0, b});
  for (ShardId s = 0; s < 4; ++s) ledger.SetShard(s, full);
  EXPECT_TRUE(ledger.AllCommitted());
  EXPECT_EQ(ledger.CompleteChunks(), 1u);
  ledger.SetShard(2, AppliedSet(kBatches));
  EXPECT_EQ(ledger.work_ids_reopened(), kBatches);
  const auto grants = ledger.Grant(0, 3);
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_EQ(grants[0].shards, (std::vector<ShardId>{2}));
  for (std::uint32_t b = 0; b < kBatches; ++b) ledger.Report(0, {0, b}, Set(4, {2}));
  EXPECT_TRUE(ledger.AllCommitted());
}

TEST(WorkLedger, WhenAWorkIdIsShared_OneOtherWorkerGetsItAndTheFirstReportCounts) {
  WorkLedger ledger = Ledger(2, 1, 3);
  ledger.SetShard(0, AppliedSet(3));
  ledger.SetShard(1, AppliedSet(3));
  ASSERT_EQ(Batches(ledger.Grant(0, 2)), (std::vector<std::uint32_t>{0, 1}));
  ledger.Share(0, {0, 1});
  ledger.Share(0, {0, 2});  // not with worker 0
  EXPECT_EQ(Batches(ledger.Grant(0, 3)), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(Batches(ledger.Grant(1, 3)), (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(ledger.Grant(2, 3).empty()) << "worker 1 is not overdue";
  EXPECT_EQ(ledger.in_flight(), 3u);
  EXPECT_EQ(ledger.examples_in_flight(), 3);
  EXPECT_TRUE(ledger.Report(1, {0, 1}, ShardSet::All(2)));
  EXPECT_EQ(ledger.in_flight_of(0), 2u);
  EXPECT_EQ(ledger.in_flight_of(1), 0u);
  EXPECT_EQ(ledger.examples_in_flight(), 2);
}

TEST(WorkLedger, WhenASharedWorkIdHasLanded_IsNotGrantedTwice) {
  WorkLedger ledger = Ledger(1, 1, 2);
  ledger.SetShard(0, AppliedSet(2));
  ASSERT_EQ(ledger.Grant(0, 2).size(), 2u);
  ledger.Share(0, {0, 0});
  ledger.Share(0, {0, 1});
  ASSERT_TRUE(ledger.Report(0, {0, 0}, ShardSet::All(1)));
  ledger.ReturnAll(0);
  EXPECT_EQ(Batches(ledger.Grant(1, 3)), (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(ledger.Grant(2, 3).empty());
}

// The second worker may have died, left, or not have received the grant.
TEST(WorkLedger, WhenASharedWorkIdComesBack_TheNextWorkerGetsIt) {
  WorkLedger ledger = Ledger(2, 1, 2);
  ledger.SetShard(0, AppliedSet(2));
  ledger.SetShard(1, AppliedSet(2));
  ASSERT_EQ(Batches(ledger.Grant(0, 2)), (std::vector<std::uint32_t>{0, 1}));
  ledger.Share(0, {0, 1});
  ASSERT_EQ(Batches(ledger.Grant(1, 2)), (std::vector<std::uint32_t>{1}));
  ledger.Return(1, {0, 1});
  EXPECT_EQ(ledger.open(), 1U);
  EXPECT_EQ(Batches(ledger.Grant(2, 2)), (std::vector<std::uint32_t>{1}));
  ledger.ReturnAll(2);
  EXPECT_EQ(Batches(ledger.Grant(1, 2)), (std::vector<std::uint32_t>{1}));
  // Shard 1 has a new copy, which lacks it.
  EXPECT_FALSE(ledger.Report(1, {0, 1}, Set(2, {0})));
  const std::vector<GrantedWorkId> again = ledger.Grant(1, 2);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].shards, (std::vector<ShardId>{1}));
  EXPECT_TRUE(ledger.Grant(0, 2).empty()) << "it has both";
  EXPECT_EQ(ledger.in_flight(), 2U);
  EXPECT_EQ(ledger.examples_in_flight(), 2);
}

TEST(WorkLedger, WhileOneOfThoseWhoHaveAWorkIdIsNotOverdue_NobodyElseGetsIt) {
  WorkLedger ledger = Ledger(1, 1, 1);
  ledger.SetShard(0, AppliedSet(1));
  ledger.AddInFlight(0, {0, 0});
  ledger.AddInFlight(1, {0, 0});
  ledger.Share(0, {0, 0});
  ledger.Share(0, {0, 0});
  EXPECT_EQ(ledger.open(), 0U);
  EXPECT_TRUE(ledger.Grant(2, 1).empty());
  ledger.Share(1, {0, 0});
  ledger.Share(1, {0, 0});
  EXPECT_EQ(ledger.open(), 1U);
  EXPECT_EQ(ledger.Grant(2, 1).size(), 1U);
  EXPECT_TRUE(ledger.Grant(3, 1).empty());
  ledger.Return(0, {0, 0});
  EXPECT_TRUE(ledger.Grant(3, 1).empty());
  EXPECT_TRUE(ledger.Report(2, {0, 0}, ShardSet::All(1)));
  EXPECT_EQ(ledger.in_flight(), 0U);
  EXPECT_EQ(ledger.open(), 0U);
}

/// A ledger over work that is added while it is done; one shard, which has nothing yet.
class ClosureLedgerTest : public testing::Test {
 protected:
  ClosureLedgerTest() { ledger_.SetShard(0, AppliedSet(ClosureSource::kChunkSize)); }

  void Add(int count) {
    for (int i = 0; i < count; ++i) source_->Add();
  }
  /// The numbers of what the worker gets.
  std::vector<std::uint32_t> Granted(std::uint32_t worker, std::size_t want) {
    return Batches(ledger_.Grant(worker, want));
  }
  void Report(std::uint32_t number) {
    EXPECT_TRUE(ledger_.Report(0, {0, number}, ShardSet::All(1)));
  }

  const std::shared_ptr<ClosureSource> source_ = std::make_shared<ClosureSource>();
  WorkLedger ledger_{1, source_};
};

TEST_F(ClosureLedgerTest, WorkIsAddedWhileOtherWorkIsDone) {
  EXPECT_TRUE(Granted(0, 5).empty());
  EXPECT_TRUE(ledger_.AllCommitted());
  Add(2);
  EXPECT_EQ(ledger_.open(), 2U);
  EXPECT_EQ(Granted(0, 5), (std::vector<std::uint32_t>{0, 1}));
  Report(0);
  Add(1);
  EXPECT_EQ(Granted(0, 5), (std::vector<std::uint32_t>{2}));
  Report(2);
  Report(1);
  EXPECT_TRUE(ledger_.AllCommitted());
  EXPECT_EQ(ledger_.examples_committed(), 3);
  EXPECT_EQ(ledger_.examples_expected(), 3);
}

TEST_F(ClosureLedgerTest, TheLowestOpenIdIsFirst) {
  Add(6);
  EXPECT_EQ(Granted(0, 4), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  Report(1);
  ledger_.Return(0, {0, 3});
  ledger_.Return(0, {0, 0});
  EXPECT_EQ(Granted(1, 10), (std::vector<std::uint32_t>{0, 3, 4, 5}));
}

TEST_F(ClosureLedgerTest, NothingOfAPhaseBeginsBeforeThePhasesBeforeItAreCommitted) {
  Add(2);
  source_->EndPhase();
  Add(1);
  source_->EndPhase();
  source_->EndPhase();
  Add(1);
  EXPECT_EQ(Granted(0, 10), (std::vector<std::uint32_t>{0, 1}));
  Report(1);
  EXPECT_TRUE(Granted(0, 10).empty());
  Report(0);
  EXPECT_EQ(Granted(0, 10), (std::vector<std::uint32_t>{2}));
  EXPECT_TRUE(Granted(0, 10).empty());
  Report(2);
  EXPECT_EQ(Granted(0, 10), (std::vector<std::uint32_t>{3}));
}

TEST_F(ClosureLedgerTest, AGrantSaysWhatToDoAndWhatHasToBeThereBefore) {
  source_->Add(1, {.kind = 7, .payload = "seven"});
  source_->Add(2);
  source_->EndPhase();
  source_->Add(1, {.kind = 9, .payload = {}});
  const std::vector<GrantedWorkId> first = ledger_.Grant(0, 2);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].content, (WorkContent{7, "seven"}));
  EXPECT_EQ(first[0].after, (WorkId{0, 0}));
  EXPECT_EQ(first[1].content, WorkContent());
  Report(0);
  Report(1);
  const std::vector<GrantedWorkId> second = ledger_.Grant(0, 2);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].content.kind, 9U);
  EXPECT_EQ(second[0].after, (WorkId{0, 2}));
}

// Workers are told of work that is open: not again and again of what they cannot get.
TEST_F(ClosureLedgerTest, Open_DoesNotCountWhatWasAskedForAndHasToWait) {
  Add(2);
  source_->EndPhase();
  Add(3);
  EXPECT_EQ(Granted(0, 10), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(ledger_.open(), 0U);
  Add(1);
  EXPECT_EQ(ledger_.open(), 0U);
  ledger_.Share(0, {0, 1});
  EXPECT_EQ(ledger_.open(), 1U);
  EXPECT_EQ(Granted(1, 10), (std::vector<std::uint32_t>{1}));
  Report(1);
  EXPECT_EQ(ledger_.open(), 0U);
  ledger_.Return(0, {0, 0});
  EXPECT_GT(ledger_.open(), 0U);
  EXPECT_EQ(Granted(0, 10), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(ledger_.open(), 0U);
  Report(0);
  EXPECT_EQ(ledger_.open(), 4U);
}

TEST_F(ClosureLedgerTest, WhenAnIdIsSharedAndHasToWaitAgain_NobodyElseGetsIt) {
  Add(1);
  source_->EndPhase();
  Add(1);
  EXPECT_EQ(Granted(0, 1), (std::vector<std::uint32_t>{0}));
  Report(0);
  EXPECT_EQ(Granted(0, 1), (std::vector<std::uint32_t>{1}));
  ledger_.Share(0, {0, 1});
  ledger_.SetShard(0, AppliedSet(ClosureSource::kChunkSize));
  EXPECT_EQ(Granted(1, 10), (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(ledger_.Report(1, {0, 0}, ShardSet::All(1)));
  EXPECT_EQ(Granted(1, 10), (std::vector<std::uint32_t>{1}));
}

// A ps was lost, and its shards came back without an id of a phase that was over.
TEST_F(ClosureLedgerTest, WhenAnIdOfAFormerPhaseIsOpenAgain_LaterPhasesWaitForIt) {
  Add(3);
  source_->EndPhase();
  Add(2);
  EXPECT_EQ(Granted(0, 3).size(), 3U);
  for (const std::uint32_t number : {0U, 1U, 2U}) Report(number);
  EXPECT_EQ(Granted(0, 1), (std::vector<std::uint32_t>{3}));
  AppliedSet restored(ClosureSource::kChunkSize);
  restored.Insert({0, 0});
  restored.Insert({0, 2});
  ledger_.SetShard(0, restored);
  ledger_.Return(0, {0, 3});
  EXPECT_EQ(Granted(1, 10), (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(ledger_.Report(1, {0, 1}, ShardSet::All(1)));
  EXPECT_EQ(Granted(1, 10), (std::vector<std::uint32_t>{3, 4}));
}

TEST_F(ClosureLedgerTest, WhatAShardHasAndTheSourceDoesNot_DoesNotCount) {
  Add(65);
  AppliedSet more(ClosureSource::kChunkSize);
  for (const std::uint32_t batch : {3U, 64U, 65U, 127U, 128U, ClosureSource::kChunkSize - 1}) {
    more.Insert({0, batch});
  }
  ledger_.SetShard(0, more);
  EXPECT_EQ(ledger_.open(), 65U);
  EXPECT_EQ(ledger_.Grant(0, 200).size(), 65U);
  for (std::uint32_t number = 0; number < 65; ++number) Report(number);
  EXPECT_EQ(ledger_.work_ids_committed(), 65U);
  EXPECT_EQ(ledger_.examples_committed(), 65);
}

TEST_F(ClosureLedgerTest, WhatAllCopiesHaveAndNobodyHasReportedIsGrantedOnceMore) {
  WorkLedger ledger(2, source_);
  ledger.SetShard(0, AppliedSet(ClosureSource::kChunkSize));
  ledger.SetShard(1, AppliedSet(ClosureSource::kChunkSize));
  Add(1);
  ASSERT_EQ(ledger.Grant(0, 1).size(), 1U);
  // The report comes while shard 1 moves: its copy has it, and the worker could not know.
  EXPECT_FALSE(ledger.Report(0, {0, 0}, Set(2, {0})));
  AppliedSet moved(ClosureSource::kChunkSize);
  moved.Insert({0, 0});
  ledger.SetShard(1, moved);
  EXPECT_FALSE(ledger.AllCommitted());
  EXPECT_EQ(ledger.open(), 1U);
  const std::vector<GrantedWorkId> again = ledger.Grant(0, 1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(again[0].shards.empty());
  EXPECT_TRUE(ledger.Report(0, {0, 0}, ShardSet::All(2)));
  EXPECT_TRUE(ledger.AllCommitted());
}

TEST_F(ClosureLedgerTest, WhatIsInFlightAndInAllCopiesStaysWithItsWorker) {
  Add(1);
  EXPECT_EQ(Granted(0, 1), (std::vector<std::uint32_t>{0}));
  AppliedSet full(ClosureSource::kChunkSize);
  full.Insert({0, 0});
  ledger_.SetShard(0, full);
  EXPECT_EQ(ledger_.in_flight_of(0), 1U);
  Report(0);
  EXPECT_TRUE(ledger_.AllCommitted());
}

TEST_F(ClosureLedgerTest, ChunksThatAreWholeArePassedOver) {
  constexpr std::uint32_t kChunk = ClosureSource::kChunkSize;
  Add(2 * kChunk + 1);
  EXPECT_EQ(ledger_.chunks(), 3U);
  EXPECT_EQ(ledger_.Grant(0, 3 * kChunk).size(), 2 * kChunk + 1);
  for (std::uint32_t i = 0; i < kChunk; ++i) Report(i);
  EXPECT_EQ(ledger_.CompleteChunks(), 1U);
  source_->Rewind({0, 0});
  ledger_.ReturnAll(0);
  const auto again = ledger_.Grant(1, 1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].work_id, (WorkId{1, 0}));
}

/// Of these, numbers 1 and 3 are for worker 1, which is there as worker 0 is.
class KeptWorkTest : public ClosureLedgerTest {
 protected:
  KeptWorkTest() {
    ledger_.SetRegistered(0, true);
    ledger_.SetRegistered(1, true);
    Add(1);
    AddFor(1);
    Add(1);
    AddFor(1);
  }
  void AddFor(std::uint32_t worker, int priority = 0) {
    source_->Add(1, {}, {.worker = worker, .priority = priority});
  }
  void AddOf(int priority) { source_->Add(1, {}, {.priority = priority}); }
  using Numbers = std::vector<std::uint32_t>;
};

TEST_F(KeptWorkTest, WhileItsWorkerIsThere_NobodyElseGetsIt) {
  EXPECT_EQ(Granted(0, 10), (Numbers{0, 2})) << "what is behind it does not wait for it";
  EXPECT_TRUE(Granted(0, 10).empty());
  EXPECT_EQ(Granted(1, 10), (Numbers{1, 3}));
}

TEST_F(KeptWorkTest, ItsWorkerHasTheRestTooByNumber) {
  EXPECT_EQ(Granted(1, 3), (Numbers{0, 1, 2}));
}

TEST_F(KeptWorkTest, WhenItsWorkerIsLost_AnyOtherGetsItAndWhatThatHad) {
  EXPECT_EQ(Granted(1, 2), (Numbers{0, 1}));
  ledger_.SetRegistered(1, false);
  ledger_.ReturnAll(1);
  EXPECT_EQ(Granted(0, 10), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(ledger_.open(), 0U);
}

TEST_F(KeptWorkTest, WhenItsWorkerComes_TheRestIsKeptForThat) {
  AddFor(2);
  AddFor(2);
  AddFor(2);
  EXPECT_EQ(Granted(0, 3), (Numbers{0, 2, 4}));
  ledger_.SetRegistered(2, true);
  EXPECT_TRUE(Granted(0, 3).empty());
  EXPECT_FALSE(ledger_.OpenFor(0));
  EXPECT_TRUE(ledger_.OpenFor(2));
  ledger_.Return(0, {0, 4});
  EXPECT_EQ(Granted(2, 10), (Numbers{4, 5, 6}));
}

TEST_F(KeptWorkTest, WhatCameBackIsKeptAgain) {
  EXPECT_EQ(Granted(1, 10), (Numbers{0, 1, 2, 3}));
  for (const std::uint32_t number : {1U, 2U, 3U}) ledger_.Return(1, {0, number});
  EXPECT_EQ(ledger_.open(), 1U);
  EXPECT_EQ(Granted(0, 10), (Numbers{2}));
  EXPECT_EQ(Granted(1, 10), (Numbers{1, 3}));
}

TEST_F(KeptWorkTest, WhatIsReopenedIsKeptAgain) {
  EXPECT_EQ(Granted(0, 10), (Numbers{0, 2}));
  EXPECT_EQ(Granted(1, 10), (Numbers{1, 3}));
  for (std::uint32_t number = 0; number < 4; ++number) Report(number);
  AppliedSet restored(ClosureSource::kChunkSize);
  restored.Insert({0, 1});
  ledger_.SetShard(0, restored);
  EXPECT_EQ(ledger_.open(), 2U);
  EXPECT_EQ(Granted(0, 10), (Numbers{0, 2}));
  EXPECT_EQ(Granted(1, 10), (Numbers{3}));
}

// Others are told of open work, and would ask for this in vain.
TEST_F(KeptWorkTest, Open_CountsWhatAnybodyMayHave) {
  EXPECT_EQ(ledger_.open(), 2U);
  EXPECT_TRUE(ledger_.OpenFor(1));
  EXPECT_FALSE(ledger_.OpenFor(0));
  EXPECT_EQ(Granted(0, 10), (Numbers{0, 2}));
  EXPECT_EQ(ledger_.open(), 0U);
  EXPECT_TRUE(ledger_.OpenFor(1));
  EXPECT_EQ(Granted(1, 1), (Numbers{1}));
  // A report of an earlier attempt commits it while it is with nobody.
  EXPECT_TRUE(ledger_.Report(0, {0, 3}, ShardSet::All(1)));
  EXPECT_EQ(ledger_.open(), 0U);
  EXPECT_FALSE(ledger_.OpenFor(1));
  EXPECT_TRUE(Granted(1, 10).empty());
}

TEST_F(KeptWorkTest, OfALaterPhaseItWaits) {
  source_->EndPhase();
  AddFor(1);
  EXPECT_EQ(Granted(1, 10), (Numbers{0, 1, 2, 3}));
  EXPECT_FALSE(ledger_.OpenFor(1));
  for (std::uint32_t number = 0; number < 3; ++number) Report(number);
  EXPECT_FALSE(ledger_.OpenFor(1));
  EXPECT_TRUE(Granted(1, 10).empty());
  Report(3);
  EXPECT_TRUE(ledger_.OpenFor(1));
  EXPECT_EQ(Granted(1, 10), (Numbers{4}));
}

// What another worker meets of the next phase does not hide what is kept in this one.
TEST_F(KeptWorkTest, WhenTheNextPhaseWaitsForIt_ItsWorkerHearsOfItAndOthersDoNot) {
  source_->EndPhase();
  Add(1);
  EXPECT_EQ(Granted(0, 10), (Numbers{0, 2}));
  EXPECT_EQ(ledger_.open(), 0U);
  EXPECT_TRUE(ledger_.OpenFor(1));
  // It is lost: the others hear of what was kept for it.
  ledger_.SetRegistered(1, false);
  EXPECT_GT(ledger_.open(), 0U);
  EXPECT_EQ(Granted(0, 10), (Numbers{1, 3}));
  EXPECT_EQ(ledger_.open(), 0U);
}

TEST_F(KeptWorkTest, WhenItIsOverdue_AnyOtherGetsItToo) {
  EXPECT_EQ(Granted(1, 2), (Numbers{0, 1}));
  ledger_.Share(1, {0, 1});
  EXPECT_EQ(Granted(0, 1), (Numbers{1}));
}

TEST_F(KeptWorkTest, AHigherPriorityIsFirst_EqualOnesByNumber) {
  AddOf(-1);
  AddOf(5);
  AddFor(1, 7);
  AddFor(0, 7);
  AddOf(5);
  EXPECT_EQ(Granted(0, 3), (Numbers{7, 5, 8}));
  ledger_.Return(0, {0, 8});
  EXPECT_EQ(Granted(0, 3), (Numbers{8, 0, 2}));
  EXPECT_EQ(Granted(1, 10), (Numbers{6, 1, 3, 4}));
}

TEST_F(KeptWorkTest, APriorityIsOfItsPhaseAlone) {
  source_->EndPhase();
  AddOf(9);
  EXPECT_EQ(Granted(1, 10), (Numbers{0, 1, 2, 3}));
  for (std::uint32_t number = 0; number < 4; ++number) Report(number);
  EXPECT_EQ(Granted(0, 10), (Numbers{4}));
}

TEST(ClosureSource, After_IsTheFirstIdOfThePhase) {
  ClosureSource source;
  source.EndPhase();
  for (int i = 0; i < 3; ++i) source.Add(7);
  source.EndPhase();
  for (std::uint32_t i = 0; i < ClosureSource::kChunkSize; ++i) source.Add();
  EXPECT_EQ(source.After({0, 2}), (WorkId{0, 0}));
  EXPECT_EQ(source.After({0, 3}), (WorkId{0, 3}));
  EXPECT_EQ(source.After({1, 0}), (WorkId{0, 3}));
  EXPECT_EQ(source.records(), 21 + ClosureSource::kChunkSize);
  EXPECT_TRUE(source.Contains({1, 2}));
  EXPECT_FALSE(source.Contains({1, 3}));
  EXPECT_FALSE(source.Contains({0, ClosureSource::kChunkSize}));
}

}  // namespace
}  // namespace pstrain
