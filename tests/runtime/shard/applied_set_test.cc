#include "runtime/shard/applied_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace pstrain {
namespace {

TEST(AppliedSet, WhenEmpty_ContainsNothingAndMissesAll) {
  const AppliedSet set(3);
  EXPECT_FALSE(set.Contains({0, 0}));
  EXPECT_EQ(set.size(), 0u);
  EXPECT_EQ(set.Missing(2).size(), 6u);
  EXPECT_EQ(set.Missing(2).front(), (WorkId{0, 0}));
  EXPECT_EQ(set.Missing(2).back(), (WorkId{1, 2}));
}

TEST(AppliedSet, WhenInsertedTwice_SecondIsNotNew) {
  AppliedSet set(65);
  EXPECT_TRUE(set.Insert({4, 64}));
  EXPECT_FALSE(set.Insert({4, 64}));
  EXPECT_TRUE(set.Contains({4, 64}));
  EXPECT_EQ(set.Word(4, 1), 1u);
  EXPECT_EQ(set.Word(4, 2), 0u);
}

TEST(AppliedSet, Without_TakesOutOfOpenAndOfClosedEpochs) {
  AppliedSet set(2);
  for (const WorkId work_id : {WorkId{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}}) set.Insert(work_id);
  set.CloseEpochsBelow(2);
  AppliedSet expected(2);
  for (const WorkId work_id : {WorkId{0, 0}, {0, 1}, {1, 1}}) expected.Insert(work_id);
  expected.CloseEpochsBelow(1);
  EXPECT_EQ(set.Without({{1, 0}, {2, 1}, {2, 0}, {7, 7}}), expected);
  EXPECT_EQ(set.Without({}), set);
  EXPECT_EQ(set.size(), 5u);
}

TEST(AppliedSet, WhenEpochsAreComplete_CloseRaisesLowWaterUpToTheFirstGap) {
  AppliedSet set(2);
  for (const WorkId work_id :
       {WorkId{0, 0}, WorkId{0, 1}, WorkId{1, 0}, WorkId{2, 0}, WorkId{2, 1}}) {
    set.Insert(work_id);
  }
  EXPECT_TRUE(set.EpochComplete(0));
  EXPECT_FALSE(set.EpochComplete(1));
  set.CloseEpochsBelow(3);
  EXPECT_EQ(set.low_water(), 1u);
  EXPECT_EQ(set.size(), 5u);
  EXPECT_TRUE(set.Contains({0, 1}));
  EXPECT_FALSE(set.Insert({0, 1}));
  EXPECT_EQ(set.Word(0, 0), 3u);
  EXPECT_EQ(set.Missing(3), (std::vector<WorkId>{{1, 1}}));
}

/// As ContainsAllBelow, by looking at each.
bool HasAllBelow(const AppliedSet& set, WorkId end) {
  for (WorkId work_id; work_id < end;) {
    if (!set.Contains(work_id)) return false;
    if (++work_id.batch == set.batches_per_epoch()) work_id = {work_id.epoch + 1, 0};
  }
  return true;
}

void ExpectAllBelowIsKnown(const AppliedSet& set, std::uint32_t epochs) {
  for (std::uint32_t epoch = 0; epoch <= epochs; ++epoch) {
    for (std::uint32_t batch = 0; batch < set.batches_per_epoch(); ++batch) {
      const WorkId end{epoch, batch};
      ASSERT_EQ(set.ContainsAllBelow(end), HasAllBelow(set, end)) << epoch << ", " << batch;
    }
  }
}

TEST(AppliedSet, ContainsAllBelow_InAnyOrderOfInsertion_IsWhatContainsSays) {
  std::mt19937_64 random(11);
  for (const std::uint32_t batches : {1U, 2U, 63U, 64U, 65U, 128U, 130U}) {
    AppliedSet set(batches);
    std::vector<WorkId> order = AppliedSet(batches).Missing(3);
    std::ranges::shuffle(order, random);
    ExpectAllBelowIsKnown(set, 3);
    for (std::size_t i = 0; i < order.size(); ++i) {
      set.Insert(order[i]);
      if (i % 7 == 3 || i + 8 > order.size()) ExpectAllBelowIsKnown(set, 3);
      if (i % 50 == 49) set.CloseEpochsBelow(static_cast<std::uint32_t>(random() % 4));
    }
    ASSERT_TRUE(set.ContainsAllBelow({3, 0}));
    for (int i = 0; i < 5; ++i) {
      set = set.Without({order[random() % order.size()]});
      ExpectAllBelowIsKnown(set, 3);
    }
    for (const WorkId work_id : set.Missing(3)) set.Insert(work_id);
    ExpectAllBelowIsKnown(set, 3);
  }
}

TEST(AppliedSet, ContainsAllBelow_OfWhatWasParsed_IsTheSame) {
  AppliedSet set(70);
  for (std::uint32_t batch = 0; batch < 70; ++batch) set.Insert({0, batch});
  for (std::uint32_t batch = 0; batch < 66; ++batch) set.Insert({1, batch});
  for (const std::uint32_t close_below : {0U, 1U}) {
    set.CloseEpochsBelow(close_below);
    const Result<AppliedSet> copy = AppliedSet::Parse(set.Serialize());
    ASSERT_TRUE(copy.ok()) << copy.status().ToString();
    EXPECT_TRUE(copy->ContainsAllBelow({1, 66}));
    EXPECT_FALSE(copy->ContainsAllBelow({1, 67}));
    EXPECT_EQ(*copy, set);
  }
}

TEST(AppliedSet, AgainstAStdSet_AgreesAndSurvivesSerialize) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto batches = static_cast<std::uint32_t>(1 + random() % 200);
    AppliedSet set(batches);
    std::set<WorkId> model;
    for (int i = 0; i < 300; ++i) {
      const WorkId work_id{static_cast<std::uint32_t>(random() % 3),
                           static_cast<std::uint32_t>(random() % batches)};
      EXPECT_EQ(set.Insert(work_id), model.insert(work_id).second);
      if (i % 100 == 99) set.CloseEpochsBelow(static_cast<std::uint32_t>(random() % 4));
    }
    // Epochs that were closed while empty of gaps only.
    EXPECT_EQ(set.size(), model.size());
    EXPECT_EQ(set.Missing(3).size(), 3 * std::size_t{batches} - model.size());
    for (const WorkId work_id : set.Missing(3)) EXPECT_FALSE(model.contains(work_id));
    const Result<AppliedSet> copy = AppliedSet::Parse(set.Serialize());
    ASSERT_TRUE(copy.ok()) << copy.status().ToString();
    EXPECT_EQ(*copy, set);
  }
}

TEST(AppliedSetParse, WhenBytesAreDamaged_IsDataLoss) {
  AppliedSet set(70);
  set.Insert({1, 69});
  const std::string good = set.Serialize();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(AppliedSet::Parse(good.substr(0, size)).status().code(), StatusCode::kDataLoss);
  }
  EXPECT_FALSE(AppliedSet::Parse(good + "x").ok());
  std::string beyond = good;
  beyond.back() = '\x80';
  EXPECT_FALSE(AppliedSet::Parse(beyond).ok());
  std::string magic = good;
  magic[0] = 'X';
  EXPECT_FALSE(AppliedSet::Parse(magic).ok());
  std::string closed = good;
  closed[8] = 2;  // low-water mark above the open epoch
  EXPECT_FALSE(AppliedSet::Parse(closed).ok());
}

TEST(AppliedSet, WhenTwoMillionBatchesAreOpen_TakesAQuarterOfAMegabyte) {
  AppliedSet set(2'000'000);
  set.Insert({0, 1'999'999});
  EXPECT_LE(set.Serialize().size(), 250'100u);
}

TEST(AppliedSet, EpochsBegun_IsTheHighestWithABatch) {
  AppliedSet set(2);
  EXPECT_EQ(set.EpochsBegun(), 0u);
  set.Insert({3, 1});
  EXPECT_EQ(set.EpochsBegun(), 4u);
  AppliedSet closed(1);
  closed.Insert({0, 0});
  closed.CloseEpochsBelow(1);
  EXPECT_EQ(closed.EpochsBegun(), 1u);
}

TEST(AppliedSet, TheLastEpochOfAll_HasNoPlace) {
  constexpr std::uint32_t kLast = AppliedSet::kMostEpochs - 1;
  AppliedSet set(1);
  EXPECT_FALSE(set.Insert({kLast + 1, 0}));
  EXPECT_EQ(set.EpochsBegun(), 0u);
  EXPECT_TRUE(set.Insert({kLast, 0}));
  EXPECT_EQ(set.EpochsBegun(), AppliedSet::kMostEpochs);
  std::string bytes = set.Serialize();
  const Result<AppliedSet> copy = AppliedSet::Parse(bytes);
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ(copy->EpochsBegun(), AppliedSet::kMostEpochs);
  bytes[16] = '\xff';  // the lowest byte of the epoch
  EXPECT_EQ(AppliedSet::Parse(bytes).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace pstrain
