#include "runtime/checkpoint/histories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/program_mark.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HistoriesTest : public testing::Test {
 protected:
  /// The next chief begins there.
  ChiefTerm Begin(const std::optional<CheckpointId>& parent) {
    const ChiefTerm term = *TakeChiefTerm(run_.path());
    EXPECT_TRUE(NoteHistory(run_.path(), term, parent).ok());
    return term;
  }
  std::string Checkpoint(CheckpointId id) {
    return checkpoint_test::WriteCheckpoint(run_.path(), id, 1);
  }
  /// A checkpoint with a mark of that value.
  void Mark(CheckpointId id, std::int64_t value) {
    ProgramMark mark;
    mark.set_run_id("run-a");
    mark.set_chief_term(id.chief_term);
    mark.set_number(id.number);
    mark.set_mark(value);
    mark.set_next_id(128);
    ASSERT_TRUE(WriteMark(Checkpoint(id), mark).ok());
  }
  std::vector<CheckpointId> Before(std::uint64_t chief_term) {
    const auto marks = MarksBefore(run_.path(), chief_term);
    EXPECT_TRUE(marks.ok()) << marks.status().ToString();
    return marks.ok() ? *marks : std::vector<CheckpointId>();
  }
  Result<GoodMark> Newest(std::uint64_t chief_term) {
    CheckpointExpectation expectation;
    expectation.run_id = "run-a";
    return NewestGoodMark(run_.path(), Before(chief_term), expectation);
  }

  TempDir run_;
};

TEST_F(HistoriesTest, WhenNoChiefHasMarked_ThereIsNone) {
  EXPECT_THAT(Before(1), IsEmpty());
  Begin(std::nullopt);
  Checkpoint({1, 1});
  EXPECT_THAT(Before(2), IsEmpty());
  EXPECT_EQ(Newest(2).status().code(), StatusCode::kNotFound);
}

TEST_F(HistoriesTest, TheNewestIsTheLastPlacedOne_WhateverItsValue) {
  Begin(std::nullopt);
  Mark({1, 1}, 9);
  Mark({1, 2}, 4);
  Checkpoint({1, 3});
  EXPECT_THAT(Before(2), ElementsAre(CheckpointId{1, 2}, CheckpointId{1, 1}));
  EXPECT_EQ(Newest(2)->mark.mark(), 4);
}

// Chief 1 has gone on after the mark that chief 2 has begun at, and a Save of it lands late.
TEST_F(HistoriesTest, WhatAFormerChiefHasDoneAfterTheParent_IsOfNoHistory) {
  Begin(std::nullopt);
  Mark({1, 1}, 1);
  Mark({1, 2}, 2);
  Begin(CheckpointId{1, 2});
  Mark({1, 3}, 3);
  EXPECT_THAT(Before(3), ElementsAre(CheckpointId{1, 2}, CheckpointId{1, 1}));
  Mark({2, 1}, 3);
  EXPECT_THAT(Before(3), ElementsAre(CheckpointId{2, 1}, CheckpointId{1, 2}, CheckpointId{1, 1}));
  // Chief 2's newest could not be read: chief 3 begins before it.
  Begin(CheckpointId{1, 1});
  Mark({3, 1}, 2);
  EXPECT_THAT(Before(4), ElementsAre(CheckpointId{3, 1}, CheckpointId{1, 1}));
}

TEST_F(HistoriesTest, AChiefThatHasEndedBeforeItBegan_ChangesNothing) {
  Begin(std::nullopt);
  Mark({1, 1}, 1);
  ASSERT_EQ(TakeChiefTerm(run_.path())->number, 2u);
  EXPECT_THAT(Before(3), ElementsAre(CheckpointId{1, 1}));
  Begin(std::nullopt);
  EXPECT_THAT(Before(4), IsEmpty());
}

TEST_F(HistoriesTest, WhatCannotBeRead_IsPassedOver_ButNotAll) {
  Begin(std::nullopt);
  Mark({1, 1}, 1);
  Mark({1, 2}, 2);
  const std::string newest = JoinPath(CheckpointDirectory(run_.path(), {1, 2}), "mark");
  ASSERT_TRUE(WriteFileSynced(newest, "PSTMARK1").ok());
  const Result<GoodMark> good = Newest(2);
  ASSERT_TRUE(good.ok()) << good.status().ToString();
  EXPECT_EQ(good->mark.mark(), 1);
  EXPECT_EQ(good->checkpoint.id, (CheckpointId{1, 1}));
  ASSERT_EQ(good->checkpoint.warnings.size(), 1u);
  EXPECT_THAT(good->checkpoint.warnings[0], HasSubstr("checkpoint 1-2 is passed over"));
  ASSERT_TRUE(
      WriteFileSynced(JoinPath(CheckpointDirectory(run_.path(), {1, 1}), "shard-0"), "?").ok());
  const Status none = Newest(2).status();
  EXPECT_EQ(none.code(), StatusCode::kDataLoss);
  EXPECT_THAT(none.message(), HasSubstr("checkpoint 1-1 is passed over"));
}

TEST_F(HistoriesTest, ANoteThatIsNotLegible_IsDataLossWithItsPath) {
  Begin(std::nullopt);
  for (const char* text : {"", "1-", "2-1", "something"}) {
    ASSERT_TRUE(WriteFileSynced(JoinPath(run_.path(), "histories/1"), text).ok());
    const Status status = MarksBefore(run_.path(), 2).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << text;
    EXPECT_THAT(status.message(), HasSubstr("histories/1"));
  }
}

TEST_F(HistoriesTest, AChiefThatWasReplaced_NotesNothing) {
  const ChiefTerm first = *TakeChiefTerm(run_.path());
  ASSERT_TRUE(TakeChiefTerm(run_.path()).ok());
  EXPECT_EQ(NoteHistory(run_.path(), first, std::nullopt).code(), StatusCode::kAborted);
  EXPECT_FALSE(FileExists(JoinPath(run_.path(), "histories/1")));
}

}  // namespace
}  // namespace pstrain
