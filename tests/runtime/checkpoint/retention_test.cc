#include "runtime/checkpoint/retention.h"

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "runtime/checkpoint/chief_term.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

struct Row {
  // Written out, because g++ 12 at -O3 thinks a table of aggregates half made.
  Row(const char* row_name, std::vector<CheckpointFolder> there, RetentionRule by,
      std::vector<CheckpointId> may_go)
      : name(row_name),
        folders(std::move(there)),
        rule(std::move(by)),
        removable(std::move(may_go)) {}

  const char* name;
  std::vector<CheckpointFolder> folders;
  RetentionRule rule;
  std::vector<CheckpointId> removable;
};

CheckpointFolder Whole(std::uint64_t number) { return {{1, number}, true}; }
CheckpointFolder On(std::uint64_t number, std::uint64_t base) {
  return {{1, number}, true, CheckpointId{1, base}};
}

TEST(Retention, Plan_FollowsTheTable) {
  const std::vector<Row> table = {
      {"nothing", {}, {2, 1, {}}, {}},
      {"keeps the newest", {{{1, 1}, true}, {{1, 2}, true}, {{1, 3}, true}}, {2, 1, {}}, {{1, 1}}},
      {"never fewer than two", {{{1, 1}, true}, {{1, 2}, true}}, {0, 1, {}}, {}},
      {"pinned", {{{1, 1}, true}, {{1, 2}, true}, {{1, 3}, true}}, {2, 1, {{1, 1}}}, {}},
      {"order is term, then number",
       {{{2, 1}, true}, {{1, 9}, true}, {{2, 2}, true}},
       {2, 2, {}},
       {{1, 9}}},
      {"unfinished of lower terms",
       {{{1, 3}, false}, {{2, 1}, false}, {{2, 2}, true}},
       {2, 2, {}},
       {{1, 3}}},
      {"pinned and unfinished", {{{1, 3}, false}}, {2, 2, {{1, 3}}}, {}},
      {"unfinished does not count as kept",
       {{{1, 1}, true}, {{1, 2}, true}, {{1, 3}, false}},
       {2, 1, {}},
       {}},
      {"nothing of a higher term",
       {{{3, 1}, true}, {{3, 2}, true}, {{3, 3}, true}, {{3, 4}, false}},
       {2, 2, {}},
       {}},
      {"bases of what stays",
       {Whole(1), On(2, 1), On(3, 2), Whole(4), On(5, 4), On(6, 5)},
       {2, 1, {}},
       {}},
      {"increments that nothing builds on",
       {Whole(1), Whole(2), On(3, 2), Whole(4), On(5, 4)},
       {2, 1, {}},
       {{1, 1}}},
      {"the bases of a pinned one",
       {Whole(1), On(2, 1), On(3, 2), Whole(4), Whole(5)},
       {2, 1, {{1, 2}}},
       {{1, 3}}},
      {"of former chiefs the pinned ones alone",
       {Whole(1), Whole(2), {{2, 1}, true}, {{3, 1}, true}, {{3, 2}, false}},
       {2, 3, {{1, 1}}, 0, true},
       {{1, 2}, {2, 1}}},
      {"the newest of another chain, when one full checkpoint would carry all",
       {Whole(1), Whole(2), Whole(3), On(4, 3), On(5, 4), On(6, 5)},
       {2, 1, {}},
       {{1, 1}}},
  };
  for (const Row& row : table) {
    EXPECT_EQ(PlanRetention(row.folders, row.rule), row.removable) << row.name;
  }
}

TEST(Retention, Apply_DeletesAndIsRefusedToAnOlderChief) {
  const TempDir run;
  ASSERT_EQ(TakeChiefTerm(run.path())->number, 1u);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    checkpoint_test::WriteCheckpoint(run.path(), {1, number}, 1);
  }
  ASSERT_EQ(TakeChiefTerm(run.path())->number, 2u);
  EXPECT_EQ(ApplyRetention(run.path(), {2, 1, {}}).status().code(), StatusCode::kAborted);
  EXPECT_EQ(ListCheckpoints(run.path())->size(), 3u);
  EXPECT_EQ(*ApplyRetention(run.path(), {2, 2, {}}), (std::vector<CheckpointId>{{1, 1}}));
  EXPECT_EQ(*ListCheckpoints(run.path()), (std::vector<CheckpointId>{{1, 2}, {1, 3}}));
  EXPECT_FALSE(FileExists(CheckpointDirectory(run.path(), {1, 1})));
}

TEST(Retention, Apply_ReadsFromTheManifestsWhatBuildsOnWhat) {
  const TempDir run;
  ASSERT_EQ(TakeChiefTerm(run.path())->number, 1u);
  const auto variables = checkpoint_test::Variables(1);
  const auto catalog = Catalog::Create(variables, 1, checkpoint_test::kBatches);
  const ShardState state = checkpoint_test::State(**catalog, 0);
  for (std::uint64_t number = 1; number <= 6; ++number) {
    const bool whole = number % 3 == 1;
    checkpoint_test::WriteCheckpointOf(run.path(), {1, number}, variables, {state},
                                       whole ? "" : CheckpointName({1, number - 1}));
  }
  EXPECT_TRUE(ApplyRetention(run.path(), {2, 1, {}})->empty());
  checkpoint_test::WriteCheckpoint(run.path(), {1, 7}, 1);
  EXPECT_EQ(*ApplyRetention(run.path(), {2, 1, {}}),
            (std::vector<CheckpointId>{{1, 1}, {1, 2}, {1, 3}}));
}

// A listing on another node than the writer's may lack names of the last minute.
TEST(Retention, WhatAListingDoesNotShow_KeepsItsBaseWhenItIsPinned) {
  const TempDir run;
  const auto variables = checkpoint_test::Variables(1);
  const auto catalog = Catalog::Create(variables, 1, checkpoint_test::kBatches);
  const ShardState state = checkpoint_test::State(**catalog, 0);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    checkpoint_test::WriteCheckpointOf(run.path(), {1, number}, variables, {state},
                                       number == 1 ? "" : CheckpointName({1, number - 1}));
    checkpoint_test::WriteCheckpointOf(run.path(), {2, number}, variables, {state});
  }
  const RetentionRule rule{2, 2, {{1, 3}}};
  std::vector<CheckpointFolder> folders = {{{1, 1}, true}, {{2, 1}, true}, {{2, 2}, true}};
  ASSERT_TRUE(FindBases(run.path(), rule.pinned, &folders).ok());
  EXPECT_TRUE(PlanRetention(folders, rule).empty());

  folders = {{{1, 1}, true}, {{2, 1}, true}, {{2, 2}, true}};
  ASSERT_TRUE(FindBases(run.path(), {}, &folders).ok());
  EXPECT_EQ(PlanRetention(folders, {2, 2, {}}), (std::vector<CheckpointId>{{1, 1}}));
}

// Somebody else deletes too: nothing is to be deleted by a listing that holds no more.
TEST(Retention, WhatIsFinishedAndHasNoManifestNow_IsAnError) {
  const TempDir run;
  checkpoint_test::WriteCheckpoint(run.path(), {1, 1}, 1);
  std::vector<CheckpointFolder> folders = {{{1, 9}, true}};
  EXPECT_EQ(FindBases(run.path(), {}, &folders).code(), StatusCode::kNotFound);
  EXPECT_FALSE(FindCheckpoint(run.path(), {1, 9})->finished);
}

}  // namespace
}  // namespace pstrain
