// Checkpointing of a program that makes marks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/os/file_faults.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/program_mark.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "tests/runtime/chief/checkpointing_fixture.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kCalls = 6;

AppliedSet First(std::uint32_t count) {
  AppliedSet applied(ClosureSource::kChunkSize);
  for (std::uint32_t i = 0; i < count; ++i) applied.Insert({0, i});
  return applied;
}

/// A program of six calls, none of which is done yet, that may schedule more.
class CheckpointingMarksTest : public chief_test::CheckpointingTest {
 protected:
  CheckpointingMarksTest() : CheckpointingMarksTest(std::make_shared<ClosureSource>(true)) {}
  explicit CheckpointingMarksTest(std::shared_ptr<ClosureSource> source)
      : CheckpointingTest(source, First(kCalls), kCalls) {
    setup_->job.starts_over = true;
    setup_->job.evaluation_deadline.reset();
    for (std::uint32_t i = 0; i < kCalls; ++i) source->Add(1, {kClosureWork, "call"});
  }
  void CommitAll() { Commit(kCalls); }
  /// `main` waits for it; what became of it is in `outcomes_`.
  void Want(std::int64_t value) {
    ProgramMark mark;
    mark.set_mark(value);
    mark.set_next_id(kCalls);
    checkpointing_.marks().Want(std::move(mark),
                                [this](const Status& status) { outcomes_.push_back(status); });
  }
  void TakeIfDue() {
    clock_.Advance(seconds(1));
    ASSERT_TRUE(checkpointing_.Due());
    Take();
  }
  /// What a later chief would go on from.
  Result<ProgramMark> MarkIn(const CheckpointId& id) const {
    const std::string folder = CheckpointDirectory(setup_->directory.path(), id);
    PSTRAIN_ASSIGN_OR_RETURN(const CheckpointManifest manifest, ReadManifest(folder));
    return ReadMark(folder, manifest);
  }

  std::vector<Status> outcomes_;
};

TEST_F(CheckpointingMarksTest, IsTakenOnceEveryShardHasAll) {
  StartPs();
  Want(3);
  EXPECT_FALSE(checkpointing_.Due());
  CommitAll();
  ASSERT_TRUE(checkpointing_.Due());
  checkpointing_.Start();
  ASSERT_FALSE(network_.writes.empty());
  EXPECT_TRUE(network_.writes.front().request.final()) << "each shard has to say what it has";
  EXPECT_EQ(network_.writes.front().request.base(), "");
  AnswerWrites();
  EXPECT_THAT(outcomes_, IsEmpty());
  checkpointing_.Finish();
  EXPECT_THAT(outcomes_, ElementsAre(OkStatus()));
  const Result<ProgramMark> mark = MarkIn({1, 1});
  ASSERT_TRUE(mark.ok()) << mark.status().ToString();
  EXPECT_EQ(mark->mark(), 3);
  EXPECT_FALSE(checkpointing_.Due());
  EXPECT_FALSE(checkpointing_.final_manifest().has_value());
}

TEST_F(CheckpointingMarksTest, OnAFullDisk_NothingHasChangedAndTheNextOneMayBeWanted) {
  StartPs();
  CommitAll();
  for (const char* name : {"mark", "manifest"}) {
    Want(1);
    const ScopedFileFaults faults([name](std::string_view call, const std::string& path) {
      return call == "write" && path.find(name) != std::string::npos ? ENOSPC : 0;
    });
    TakeIfDue();
    ASSERT_EQ(outcomes_.size(), 1U) << name;
    EXPECT_EQ(outcomes_[0].code(), StatusCode::kResourceExhausted);
    EXPECT_THAT(InPlace(), IsEmpty());
    EXPECT_FALSE(checkpointing_.Due()) << "nobody waits any more";
    outcomes_.clear();
  }
  Want(1);
  TakeIfDue();
  EXPECT_THAT(outcomes_, ElementsAre(OkStatus()));
}

TEST_F(CheckpointingMarksTest, WhenAShardGetsANewTerm_IsTakenAgain) {
  StartPs();
  CommitAll();
  Want(1);
  for (std::uint32_t attempt = 1; attempt < 5; ++attempt) {
    checkpointing_.Start();
    ASSERT_TRUE(RegisterPs(1, 200 + attempt, attempt).ok());
    AnswerAssigns();
    AnswerWrites();
    checkpointing_.Finish();
    EXPECT_THAT(InPlace(), IsEmpty());
    EXPECT_FALSE(checkpointing_.Due()) << "the new copy has nothing";
    CommitAll();
    ASSERT_TRUE(checkpointing_.Due());
  }
  EXPECT_THAT(outcomes_, IsEmpty());
  TakeIfDue();
  EXPECT_THAT(outcomes_, ElementsAre(OkStatus()));
}

TEST_F(CheckpointingMarksTest, WhenAPsIsAway_IsTakenAgain) {
  StartPs();
  CommitAll();
  Want(1);
  checkpointing_.Start();
  FailWrites(UnavailableError("no such peer"));
  checkpointing_.Finish();
  EXPECT_THAT(outcomes_, IsEmpty());
  EXPECT_THAT(checkpointing_.marks().GiveUp(), HasSubstr("no such peer"));
}

TEST_F(CheckpointingMarksTest, WhenAShardLacksWhatWasReported_ThatIsDoneAgainFirst) {
  StartPs();
  CommitAll();
  Want(1);
  checkpointing_.Start();
  AnswerWrites([](WriteCheckpointShardsReply& first) {
    first.mutable_copies(0)->set_applied(First(2).Serialize());
  });
  checkpointing_.Finish();
  EXPECT_THAT(InPlace(), IsEmpty());
  EXPECT_FALSE(checkpointing_.Due());
  EXPECT_EQ(protocol().Progress().work_ids_reopened, kCalls - 2);
  CommitAll();
  TakeIfDue();
  EXPECT_THAT(outcomes_, ElementsAre(OkStatus()));
}

TEST_F(CheckpointingMarksTest, WhenNobodyWaitsAnyMore_IsNotPlaced) {
  StartPs();
  CommitAll();
  for (const bool manifest_is_written : {false, true}) {
    Want(1);
    clock_.Advance(seconds(1));
    checkpointing_.Start();
    AnswerWrites();
    if (manifest_is_written) {
      disk_.Pause();
      checkpointing_.Finish();
    }
    EXPECT_THAT(checkpointing_.marks().GiveUp(), HasSubstr("takes longer"));
    if (manifest_is_written) disk_.Release();
    checkpointing_.Finish();
    EXPECT_THAT(InPlace(), IsEmpty());
    EXPECT_FALSE(checkpointing_.in_progress());
    EXPECT_FALSE(checkpointing_.Due());
    EXPECT_EQ(checkpointing_.problem().error, OkStatus());
  }
  EXPECT_THAT(outcomes_, IsEmpty());
}

// The next chief has begun at the mark before: this one is of no history, and may be what it has
// begun at all the same.
TEST_F(CheckpointingMarksTest, WhenAnotherChiefHasComeRightBeforeIt_CountsForNobodyAndStays) {
  StartPs();
  CommitAll();
  Want(1);
  checkpointing_.Start();
  AnswerWrites();
  bool taken = false;
  {
    const ScopedFileFaults faults([&](std::string_view call, const std::string& path) {
      const bool last = call == "rename" && path.find("manifest") != std::string::npos;
      if (last && !taken) {
        taken = true;
        EXPECT_EQ(TakeChiefTerm(setup_->directory.path())->number, 2U);
      }
      return 0;
    });
    checkpointing_.Finish();
  }
  ASSERT_TRUE(taken);
  EXPECT_THAT(outcomes_, IsEmpty());
  EXPECT_FALSE(checkpointing_.newest().has_value());
  EXPECT_THAT(InPlace(), ElementsAre(CheckpointId{1, 1}));
}

TEST_F(CheckpointingMarksTest, TheNewestMarksStay_AndAllWhereNobodySaysHowMany) {
  StartPs();
  CommitAll();
  for (int i = 1; i <= 3; ++i) {
    Want(i);
    TakeIfDue();
  }
  for (int i = 0; i < 4; ++i) Take();
  EXPECT_THAT(InPlace(), ElementsAre(CheckpointId{1, 1}, CheckpointId{1, 2}, CheckpointId{1, 3},
                                     CheckpointId{1, 6}, CheckpointId{1, 7}));
  checkpointing_.marks().Keep(2);
  Take();
  EXPECT_THAT(InPlace(), ElementsAre(CheckpointId{1, 2}, CheckpointId{1, 3}, CheckpointId{1, 7},
                                     CheckpointId{1, 8}));
  EXPECT_EQ(MarkIn({1, 3})->mark(), 3);
}

}  // namespace
}  // namespace pstrain
