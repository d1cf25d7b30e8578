#include "runtime/rpc/control_shards.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(ControlShards, Sets_WhenRoundTripped_AreTheSame) {
  for (const std::uint32_t shards : {1U, 63U, 64U, 65U, 4096U}) {
    ShardSet last(shards);
    last.Add(shards - 1);
    for (const ShardSet& set : {ShardSet(shards), ShardSet::All(shards), last}) {
      WireShardSet wire;
      ToWire(set, &wire);
      ASSERT_TRUE(CheckShardSet(wire, shards).ok()) << CheckShardSet(wire, shards).ToString();
      EXPECT_EQ(FromWire(wire, shards), set);
      const bool plain = set.empty() || set.full();
      EXPECT_EQ(wire.words_size(), plain ? 0 : static_cast<int>(ShardSet::WordsFor(shards)));
    }
  }
}

TEST(ControlShards, Sets_WhenTheyAreNoneOfTheRun_AreRefusedWithTheReason) {
  const auto check = [](std::uint32_t count, std::vector<std::uint64_t> words) {
    WireShardSet wire;
    wire.set_count(count);
    for (const std::uint64_t word : words) wire.add_words(word);
    return CheckShardSet(wire, 70);
  };
  EXPECT_EQ(check(2, {1, 0b100000}), OkStatus());
  EXPECT_EQ(check(71, {}), OutOfRangeError("a set of 71 shards of 70"));
  EXPECT_EQ(check(69, {}), InvalidArgumentError("a set of 69 of 70 shards does not say which"));
  EXPECT_EQ(check(1, {1}),
            InvalidArgumentError("a set of shards has 1 words of bits; 70 shards need 2"));
  EXPECT_EQ(check(1, {1, 0, 0}),
            InvalidArgumentError("a set of shards has 3 words of bits; 70 shards need 2"));
  EXPECT_EQ(check(1, {0, 0b1000000}), OutOfRangeError("a set names shard 70 of 70"));
  EXPECT_EQ(check(3, {1, 1}), InvalidArgumentError("a set of 3 shards has 2 bits"));
}

/// Three shards; shard 2 has no owner.
Membership ThreeShards() {
  Membership membership;
  membership.set_number(77);
  for (std::uint64_t shard = 0; shard < 3; ++shard) {
    ShardOwner* const owner = membership.add_shards();
    owner->mutable_term()->set_chief_term(1);
    owner->mutable_term()->set_counter(10 + shard);
    owner->set_active(shard != 2);
  }
  return membership;
}

TEST(ReportShards, NamesThoseInTheMembershipsTerms) {
  Report report;
  SetShards(ThreeShards(), std::vector<ShardInTerm>{{1, {1, 11}}},
            std::vector<ShardInTerm>{{0, {1, 10}}}, &report);
  EXPECT_EQ(report.membership(), 77U);
  const ShardSet have = FromWire(report.shards(), 3);
  EXPECT_EQ(have.count(), 1U);
  EXPECT_TRUE(have.Contains(1));
  const ShardSet early = FromWire(report.early(), 3);
  EXPECT_EQ(early.count(), 1U);
  EXPECT_TRUE(early.Contains(0));
}

TEST(ReportShards, WhenAShardHasAnotherTermByNow_IsSilentAboutIt) {
  Report report;
  SetShards(ThreeShards(), std::vector<ShardInTerm>{{0, {1, 9}}, {1, {1, 11}}, {2, {1, 12}}}, {},
            &report);
  const ShardSet have = FromWire(report.shards(), 3);
  EXPECT_EQ(have.count(), 1U);
  EXPECT_TRUE(have.Contains(1));
  EXPECT_FALSE(report.has_early());
}

}  // namespace
}  // namespace pstrain
