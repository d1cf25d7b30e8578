#include "runtime/rpc/control_shards.h"

#include <gtest/gtest.h>

#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

template <typename Wire, typename T>
Result<T> RoundTrip(const T& value) {
  Wire wire;
  ToWire(value, &wire);
  return FromWire(wire);
}

TEST(ControlShards, Copies_WhenRoundTripped_AreTheSame) {
  ShardCopy copy{7, {3, 9}, true, AppliedSet(5), 40};
  copy.applied.Insert({1, 4});
  copy.left_out = {{1, 4}};
  const auto read = RoundTrip<WireShardCopy>(copy);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->shard, 7u);
  EXPECT_EQ(read->term, (ShardTerm{3, 9}));
  EXPECT_TRUE(read->active);
  EXPECT_EQ(read->applied, copy.applied);
  EXPECT_EQ(read->examples, 40);
  EXPECT_EQ(read->left_out, copy.left_out);

  WireShardCopy damaged;
  ToWire(copy, &damaged);
  damaged.mutable_applied()->pop_back();
  EXPECT_EQ(FromWire(damaged).status().code(), StatusCode::kDataLoss);
  damaged.set_active(false);
  EXPECT_TRUE(FromWire(damaged).ok()) << "the set of an incomplete copy is not read";
}

TEST(ControlShards, Assignments_WhenRoundTripped_AreTheSame) {
  for (const AssignSource source :
       {AssignSource::kInitial, AssignSource::kRestore, AssignSource::kKeep, AssignSource::kDrop}) {
    const ShardAssignment assignment{7, {3, 9}, source};
    EXPECT_EQ(*RoundTrip<WireShardAssignment>(assignment), assignment);
  }
  const ShardAssignment move{7, {3, 9}, AssignSource::kMove, "a:1", {3, 2}};
  EXPECT_EQ(*RoundTrip<WireShardAssignment>(move), move);
}

TEST(ControlShards, Assignments_WhenTheirSourceIsUnknown_AreRefused) {
  google::protobuf::RepeatedPtrField<WireShardAssignment> wire;
  ToWire(ShardAssignment{1, {3, 1}, AssignSource::kKeep}, wire.Add());
  EXPECT_EQ(AllFromWire<ShardAssignment>(wire)->size(), 1u);
  wire.Add()->set_shard(2);
  EXPECT_EQ(AllFromWire<ShardAssignment>(wire).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
