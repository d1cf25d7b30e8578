#include "runtime/coordinator/grant_book.h"

#include <gtest/gtest.h>

#include <set>

namespace pstrain {
namespace {

CoreOptions Options(std::uint32_t shards, std::uint32_t epochs, std::uint32_t batches) {
  CoreOptions options;
  options.shards = shards;
  options.epochs = epochs;
  options.batches_per_epoch = batches;
  return options;
}

TEST(TokenSet, WhenTheLastTokenOfAChunkGoes_IsEmpty) {
  TokenSet set;
  set.Insert({1, 700});
  EXPECT_TRUE(set.Contains({1, 700}));
  EXPECT_FALSE(set.Contains({0, 700}));
  EXPECT_EQ(set.Word(1, 700 / 64), std::uint64_t{1} << (700 % 64));
  set.Erase({1, 700});
  EXPECT_TRUE(set.empty());
}

TEST(GrantBook, WhenAnOrderIsGiven_GrantsInThatOrderThroughAllEpochs) {
  CoreOptions options = Options(1, 2, 5);
  options.order = [](std::uint32_t epoch, std::uint32_t position) {
    return epoch == 0 ? 4 - position : position;
  };
  GrantBook book(options);
  book.SetShard(0, AppliedSet(5));
  const auto grants = book.Grant(0, 100);
  ASSERT_EQ(grants.size(), 10u);
  EXPECT_EQ(grants.front().token, (Token{0, 4}));
  EXPECT_EQ(grants[5].token, (Token{1, 0}));
}

/// Batches 0 to 3 are block 0, 4 to 7 block 1 and so on.
CoreOptions InBlocksOfFour(std::uint32_t batches) {
  CoreOptions options = Options(1, 1, batches);
  options.block = [](std::uint32_t batch) { return batch / 4; };
  return options;
}

std::vector<std::uint32_t> Batches(const std::vector<GrantedToken>& grants) {
  std::vector<std::uint32_t> batches;
  for (const GrantedToken& grant : grants) batches.push_back(grant.token.batch);
  return batches;
}

TEST(GrantBook, WhenThereAreBlocks_AWorkerKeepsToItsOwn) {
  GrantBook book(InBlocksOfFour(16));
  book.SetShard(0, AppliedSet(16));
  EXPECT_EQ(Batches(book.Grant(0, 3)), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(Batches(book.Grant(1, 2)), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(Batches(book.Grant(0, 3)), (std::vector<std::uint32_t>{3, 8, 9}));
  EXPECT_EQ(Batches(book.Grant(1, 2)), (std::vector<std::uint32_t>{6, 7}));
}

TEST(GrantBook, WhenOnlyOthersBlocksAreLeft_TakesFromTheirEnd) {
  GrantBook book(InBlocksOfFour(8));
  book.SetShard(0, AppliedSet(8));
  EXPECT_EQ(Batches(book.Grant(0, 1)), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(Batches(book.Grant(1, 6)), (std::vector<std::uint32_t>{4, 5, 6, 7, 3, 2}));
  EXPECT_EQ(Batches(book.Grant(0, 4)), (std::vector<std::uint32_t>{1}));
}

TEST(GrantBook, WhenAWorkerIsLost_ItsBlockGoesToOthers) {
  GrantBook book(InBlocksOfFour(4));
  book.SetShard(0, AppliedSet(4));
  EXPECT_EQ(book.Grant(0, 2).size(), 2u);
  book.ReturnAll(0);
  EXPECT_EQ(book.Grant(1, 10).size(), 4u);
}

TEST(GrantBook, WhenAShardIsRestored_ReservedTokensAreGrantedOnce) {
  GrantBook book(InBlocksOfFour(8));
  book.SetShard(0, AppliedSet(8));
  EXPECT_EQ(book.Grant(0, 1).size(), 1u);
  EXPECT_EQ(book.Grant(1, 1).size(), 1u);
  EXPECT_TRUE(book.Report(0, {0, 0}, {0}));
  book.SetShard(0, AppliedSet(8));  // lost batch 0, and the cursor is back at the start
  std::multiset<std::uint32_t> granted{4};
  for (const std::uint32_t worker : {0U, 1U, 2U}) {
    for (const std::uint32_t batch : Batches(book.Grant(worker, 3))) granted.insert(batch);
  }
  EXPECT_EQ(granted, (std::multiset<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(GrantBook, WhenTwoWorkersHoldAToken_ItComesBackAfterBothReturnIt) {
  GrantBook book(Options(1, 1, 1));
  book.SetShard(0, AppliedSet(1));
  book.Hold(0, {0, 0});
  book.Hold(1, {0, 0});
  book.ReturnAll(0);
  EXPECT_TRUE(book.Grant(2, 1).empty());
  book.Return(1, {0, 0});
  EXPECT_EQ(book.Grant(2, 1).size(), 1u);
}

TEST(GrantBook, WhenShardsComeWithDifferentSets_GrantsNameThoseThatLackTheToken) {
  GrantBook book(Options(3, 1, 3));
  AppliedSet one(3);
  one.Insert({0, 0});
  AppliedSet two = one;
  two.Insert({0, 1});
  book.SetShard(0, one);
  book.SetShard(1, two);
  book.SetShard(2, two);
  EXPECT_EQ(book.tokens_committed(), 1u);
  const auto grants = book.Grant(0, 3);
  ASSERT_EQ(grants.size(), 2u);
  EXPECT_EQ(grants[0].token, (Token{0, 1}));
  EXPECT_EQ(grants[0].shards, (std::vector<ShardId>{0}));
  EXPECT_TRUE(grants[1].shards.empty());
}

TEST(GrantBook, WhenATokenInFlightIsCommittedByAnother_ItIsWithNobody) {
  GrantBook book(Options(1, 1, 2));
  book.SetShard(0, AppliedSet(2));
  book.Hold(0, {0, 0});
  book.Hold(1, {0, 0});
  EXPECT_TRUE(book.Report(1, {0, 0}, {0}));
  EXPECT_EQ(book.in_flight(), 0u);
  EXPECT_EQ(book.held_by(0), 0u);
}

TEST(GrantBook, WhenANewCopyHasATokenInFlight_ItIsWithNobodyAndMayBeReopened) {
  GrantBook book(Options(1, 1, 1));
  book.SetShard(0, AppliedSet(1));
  EXPECT_EQ(book.Grant(0, 1).size(), 1u);
  AppliedSet full(1);
  full.Insert({0, 0});
  book.SetShard(0, full);
  EXPECT_TRUE(book.AllCommitted());
  EXPECT_EQ(book.in_flight(), 0u);
  book.SetShard(0, AppliedSet(1));
  EXPECT_EQ(book.Grant(1, 1).size(), 1u);
}

TEST(GrantBook, WhenTwoMillionBatchesAreReopenedForOneShard_GrantsThemAllOnce) {
  constexpr std::uint32_t kBatches = 2'000'000;
  GrantBook book(Options(4, 1, kBatches));
  AppliedSet full(kBatches);
  for (std::uint32_t b = 0; b < kBatches; ++b) full.Insert({0, b});
  for (ShardId s = 0; s < 4; ++s) book.SetShard(s, full);
  EXPECT_TRUE(book.AllCommitted());
  EXPECT_EQ(book.CompleteEpochs(), 1u);
  book.SetShard(2, AppliedSet(kBatches));
  EXPECT_EQ(book.tokens_reopened(), kBatches);
  const auto grants = book.Grant(0, 3);
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_EQ(grants[0].shards, (std::vector<ShardId>{2}));
  for (std::uint32_t b = 0; b < kBatches; ++b) book.Report(0, {0, b}, {2});
  EXPECT_TRUE(book.AllCommitted());
}

}  // namespace
}  // namespace pstrain
