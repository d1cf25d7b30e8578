#include "runtime/checkpoint/retention.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "runtime/checkpoint/chief_epoch.h"
#include "tests/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

struct Row {
  const char* name;
  std::vector<CutFolder> folders;
  RetentionRule rule;
  std::vector<CutId> removable;
};

TEST(Retention, Plan_FollowsTheTable) {
  const std::vector<Row> table = {
      {"nothing", {}, {2, 1, {}}, {}},
      {"keeps the newest", {{{1, 1}, true}, {{1, 2}, true}, {{1, 3}, true}}, {2, 1, {}}, {{1, 1}}},
      {"never fewer than two", {{{1, 1}, true}, {{1, 2}, true}}, {0, 1, {}}, {}},
      {"pinned", {{{1, 1}, true}, {{1, 2}, true}, {{1, 3}, true}}, {2, 1, {{1, 1}}}, {}},
      {"order is epoch, then number",
       {{{2, 1}, true}, {{1, 9}, true}, {{2, 2}, true}},
       {2, 2, {}},
       {{1, 9}}},
      {"unfinished of lower epochs",
       {{{1, 3}, false}, {{2, 1}, false}, {{2, 2}, true}},
       {2, 2, {}},
       {{1, 3}}},
      {"pinned and unfinished", {{{1, 3}, false}}, {2, 2, {{1, 3}}}, {}},
      {"unfinished does not count as kept",
       {{{1, 1}, true}, {{1, 2}, true}, {{1, 3}, false}},
       {2, 1, {}},
       {}},
      {"nothing of a higher epoch",
       {{{3, 1}, true}, {{3, 2}, true}, {{3, 3}, true}, {{3, 4}, false}},
       {2, 2, {}},
       {}},
  };
  for (const Row& row : table) {
    EXPECT_EQ(PlanRetention(row.folders, row.rule), row.removable) << row.name;
  }
}

TEST(Retention, Apply_DeletesAndIsRefusedToAnOlderChief) {
  const TempDir run;
  ASSERT_EQ(*TakeChiefEpoch(run.path()), 1u);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    checkpoint_test::WriteCut(run.path(), {1, number}, 1);
  }
  ASSERT_EQ(*TakeChiefEpoch(run.path()), 2u);
  EXPECT_EQ(ApplyRetention(run.path(), {2, 1, {}}).status().code(), StatusCode::kAborted);
  EXPECT_EQ(ListCuts(run.path())->size(), 3u);
  EXPECT_EQ(*ApplyRetention(run.path(), {2, 2, {}}), (std::vector<CutId>{{1, 1}}));
  EXPECT_EQ(*ListCuts(run.path()), (std::vector<CutId>{{1, 2}, {1, 3}}));
  EXPECT_FALSE(FileExists(CutDirectory(run.path(), {1, 1})));
}

}  // namespace
}  // namespace pstrain
