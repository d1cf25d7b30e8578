#include "runtime/shard/applied_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

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

}  // namespace
}  // namespace pstrain
