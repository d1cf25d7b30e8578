#include "runtime/checkpoint/checkpoint_shard_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace pstrain {
namespace {

/// A shard that holds one table, whose rows are the last bytes of the checkpoint shard.
ShardState OneTable(std::vector<std::uint64_t> keys) {
  ShardState state;
  state.applied = AppliedSet(8);
  TableState& table = state.tables.emplace_back();
  table.values = std::vector<float>(keys.size(), 1.0f);
  table.keys = std::move(keys);
  return state;
}

TEST(CheckpointShardFormat, WhenWritten_ReadsBack) {
  const std::string bytes = SerializeCheckpointShard(OneTable({7, 3}));
  const auto state = ParseCheckpointShard(bytes);
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->tables[0].keys, (std::vector<std::uint64_t>{3, 7}));
  EXPECT_EQ(SerializeCheckpointShard(*state), bytes);
}

TEST(CheckpointShardFormat, WhenBatchesWereLeftOut_ReadsThemBackInOrderOnly) {
  ShardState state = OneTable({3});
  state.left_out = {{0, 7}, {2, 1}};
  const auto read = ParseCheckpointShard(SerializeCheckpointShard(state));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->left_out, state.left_out);
  EXPECT_EQ(read->tables[0].keys, state.tables[0].keys);
  state.left_out = {{2, 1}, {0, 7}};
  EXPECT_EQ(ParseCheckpointShard(SerializeCheckpointShard(state)).status().code(),
            StatusCode::kDataLoss);
}

TEST(CheckpointShardFormat, WhenArraysAreOfAnyDType_ReadsThemBackAsSuch) {
  ShardState state = OneTable({3, 7});
  state.tables[0].values = std::vector<std::int64_t>{-1, 1LL << 40};
  state.tables.push_back({1, {5}, std::vector<double>{0.1}, {std::vector<double>{1e300}}});
  state.dense.push_back({2, 0, std::vector<std::int32_t>{1, -2, 3}, {}});
  state.dense.push_back({3, 0, std::vector<float>{0.5F}, {std::vector<float>{2.0F}}});
  // Slots with one number of a partition or row beside those with one of each element.
  state.dense.push_back(
      {4, 0, std::vector<float>{1, 2, 3}, {std::vector<float>{9, 8, 7}, std::vector<float>{6}}});
  state.tables.push_back({5,
                          {1, 2},
                          std::vector<float>{1, 2, 3, 4},
                          {std::vector<float>{5, 6}, std::vector<float>{1, 2, 3, 4}}});
  state.variables = 6;
  const auto read = ParseCheckpointShard(SerializeCheckpointShard(state));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, state);
}

TEST(CheckpointShardFormat, WhenADTypeOrTheVersionIsUnknown_IsDataLossThatNamesTheVersion) {
  std::string bytes = SerializeCheckpointShard(OneTable({}));
  std::string dtype = bytes;
  // Behind it: u64 rows.
  dtype[dtype.size() - sizeof(std::uint64_t) - sizeof(std::uint32_t)] = 4;
  EXPECT_EQ(ParseCheckpointShard(dtype).status().code(), StatusCode::kDataLoss);
  // Behind the magic.
  ASSERT_EQ(bytes[8], 6);
  bytes[8] = 5;
  EXPECT_EQ(ParseCheckpointShard(bytes).status(),
            DataLossError("format version 5, this program reads 6"));
}

TEST(CheckpointShardFormat, WhenKeysDoNotAscend_IsDataLoss) {
  std::string bytes = SerializeCheckpointShard(OneTable({3, 7}));
  const std::size_t second_key = bytes.size() - 2 * sizeof(float) - sizeof(std::uint64_t);
  ASSERT_EQ(bytes[second_key], 7);
  for (const char key : {'\3', '\2'}) {
    bytes[second_key] = key;
    EXPECT_EQ(ParseCheckpointShard(bytes).status().code(), StatusCode::kDataLoss);
  }
}

TEST(CheckpointShardFormat, WhenAnEmptyTableClaimsManySlots_IsDataLoss) {
  std::string bytes = SerializeCheckpointShard(OneTable({}));
  // Behind the number of slots: u32 0 and u64 rows.
  const std::size_t slots = bytes.size() - 2 * sizeof(std::uint64_t);
  const std::uint32_t many = 0xffffffff;
  std::memcpy(&bytes[slots], &many, sizeof(many));
  EXPECT_EQ(ParseCheckpointShard(bytes).status().code(), StatusCode::kDataLoss);
}

// Rows come in the order of their keys, and their numbers with them.
TEST(CheckpointShardFormat, WhenASlotHasOneNumberOfARow_ItStaysWithItsRow) {
  ShardState state = OneTable({7, 3});
  state.tables[0].values = std::vector<float>{1, 2, 3, 4};
  state.tables[0].slots.emplace_back(std::vector<float>{70, 30});
  const auto read = ParseCheckpointShard(SerializeCheckpointShard(state));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->tables[0].keys, (std::vector<std::uint64_t>{3, 7}));
  EXPECT_EQ(read->tables[0].values, (std::vector<float>{3, 4, 1, 2}));
  EXPECT_EQ(read->tables[0].slots[0], (std::vector<float>{30, 70}));
}

TEST(CheckpointShardFormat, WhenASlotDoesNotDivideAmongTheRows_IsDataLoss) {
  ShardState state = OneTable({3, 7});
  state.tables[0].slots.emplace_back(std::vector<float>{1, 2});
  std::string bytes = SerializeCheckpointShard(state);
  // Behind the number of its elements: two of them.
  const std::size_t elements = bytes.size() - 2 * sizeof(float) - sizeof(std::uint64_t);
  ASSERT_EQ(bytes[elements], 2);
  bytes[elements] = 1;
  EXPECT_EQ(ParseCheckpointShard(bytes).status().code(), StatusCode::kDataLoss);
}

TEST(CheckpointShardFormat, WhenTruncatedAnywhere_IsDataLoss) {
  const std::string bytes = SerializeCheckpointShard(OneTable({3, 7}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ParseCheckpointShard(bytes.substr(0, size)).status().code(), StatusCode::kDataLoss)
        << size;
  }
}

}  // namespace
}  // namespace pstrain
