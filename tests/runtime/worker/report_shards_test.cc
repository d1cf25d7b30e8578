#include "runtime/worker/report_shards.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

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
