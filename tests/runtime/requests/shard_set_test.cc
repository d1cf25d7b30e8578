#include "runtime/requests/shard_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace pstrain {
namespace {

TEST(ShardSet, All_HasEveryShardAndNoOther) {
  for (const std::uint32_t shards : {1U, 63U, 64U, 65U, 128U, 4096U}) {
    const ShardSet all = ShardSet::All(shards);
    EXPECT_TRUE(all.full());
    EXPECT_EQ(all.count(), shards);
    EXPECT_TRUE(all.Contains(shards - 1));
    EXPECT_FALSE(all.Contains(shards));
    EXPECT_FALSE(ShardSet(shards).full());
    EXPECT_TRUE(ShardSet(shards).empty());
  }
}

TEST(ShardSet, WhenShardsAreAddedAndRemoved_NamesThemInOrder) {
  ShardSet set(130);
  for (const ShardId shard : {129U, 0U, 64U, 63U}) set.Add(shard);
  set.Remove(64);
  std::vector<ShardId> named;
  set.ForEach([&](ShardId shard) { named.push_back(shard); });
  EXPECT_EQ(named, (std::vector<ShardId>{0, 63, 129}));
  EXPECT_EQ(set.count(), 3U);
  EXPECT_FALSE(set.full());
  EXPECT_EQ(ShardSet::Of(130, {set.words().begin(), set.words().end()}), set);
}

}  // namespace
}  // namespace pstrain
