#include "runtime/chief/checkpointing.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/file_faults.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"
#include "tests/runtime/chief/checkpointing_fixture.h"

namespace pstrain {
namespace {

using chief_test::CheckpointingTest;
using chief_test::FakeNetwork;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(CheckpointingTest, IsDueBySteps) {
  checkpoint_rule().every_steps = 2;
  StartPs();
  Commit(1);
  EXPECT_FALSE(checkpointing_.Due());
  Commit(1);
  EXPECT_TRUE(checkpointing_.Due());
  Take();
  EXPECT_FALSE(checkpointing_.Due());
  Commit(2);
  EXPECT_TRUE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, IsDueBySecondsOnceSomethingIsNew) {
  checkpoint_rule().every = std::chrono::seconds(5);
  StartPs();
  clock_.Advance(seconds(6));
  EXPECT_FALSE(checkpointing_.Due());
  Commit(1);
  EXPECT_TRUE(checkpointing_.Due());
  Take();
  Commit(1);
  clock_.Advance(seconds(5) - milliseconds(1));
  EXPECT_FALSE(checkpointing_.Due());
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, TheStatsPage_SaysWhenTheNewestWasTakenAndHowLongItTook) {
  checkpoint_rule().every_steps = 1;
  StartPs();
  const auto value = [this](std::string_view key) {
    const std::vector<StatReading> readings = stats_->page()->Read().value();
    for (const StatReading& reading : readings) {
      if (reading.key == key) return reading.AsDouble();
    }
    return -1.0;
  };
  EXPECT_TRUE(std::isnan(value("checkpoint_last_success")));
  Commit(1);
  checkpointing_.Start();
  clock_.Advance(seconds(3));
  AnswerWrites();
  checkpointing_.Finish();
  const std::int64_t taken = clock_.UnixMillis();
  EXPECT_DOUBLE_EQ(value("checkpoint_last_success"), static_cast<double>(taken) / 1000);
  EXPECT_EQ(value("checkpoint_seconds.sum"), 3);
  EXPECT_EQ(value("checkpoint_seconds.le.2.5"), 0);
  EXPECT_EQ(value("checkpoint_seconds.le.5"), 1);
  Commit(1);
  checkpointing_.Start();
  FailWrites(InternalError("no space"));
  checkpointing_.Finish();
  EXPECT_EQ(value("checkpoint_seconds.sum"), 3) << "an abandoned one is none";
}

// Some of its shards may have been copied before the declaration, some after it.
TEST_F(CheckpointingTest, WhenVariablesAreDeclaredMeanwhile_IsAbandonedAndTakenAgain) {
  checkpoint_rule().every_steps = 2;
  StartPs();
  for (const FakeNetwork::Configure& call : network_.configures) call.done(OkStatus());
  network_.configures.clear();
  Commit(2);
  ASSERT_TRUE(checkpointing_.Due());
  checkpointing_.Start();
  run_.add_variables()->set_name("late");
  run_.mutable_variables(0)->set_generation(1);
  run_.set_generation(1);
  AnswerWrites();
  checkpointing_.Finish();
  EXPECT_TRUE(InPlace().empty());
  EXPECT_EQ(checkpointing_.problem().failing.count(), 0) << "nobody has failed";
  EXPECT_FALSE(checkpointing_.Due()) << "no ps has heard of them yet";
  ps().Dispatch();
  for (const FakeNetwork::Configure& call : network_.configures) call.done(OkStatus());
  ASSERT_TRUE(checkpointing_.Due());
  Take();
  ASSERT_EQ(InPlace().size(), 1u);
  const auto manifest = ReadManifest(CheckpointDirectory(setup_->directory.path(), InPlace()[0]));
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->generation(), 1u);
  EXPECT_EQ(manifest->variables_size(), 1);
}

TEST_F(CheckpointingTest, WhenAllPsLeave_IsDueAndReleasesThem) {
  StartPs();
  Heartbeat(0, incarnations_[0], true);
  AnswerAssigns();
  network_.releases.clear();
  EXPECT_FALSE(checkpointing_.Due());
  Heartbeat(1, incarnations_[1], true);
  EXPECT_TRUE(checkpointing_.Due());
  Take();
  ASSERT_EQ(network_.releases.size(), 1u);
  EXPECT_EQ(network_.releases[0].address, "ps-101");
}

TEST_F(CheckpointingTest, WhileDraining_IsDueUntilAllIsCovered) {
  StartPs();
  Commit(3);
  EXPECT_FALSE(checkpointing_.Due());
  protocol().Drain();
  EXPECT_TRUE(checkpointing_.Due());
  EXPECT_FALSE(checkpointing_.Covered());
  Take();
  EXPECT_TRUE(checkpointing_.Covered());
  EXPECT_FALSE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, WhenTheRestoredStateIsWanted_IsDueOnce) {
  ASSERT_TRUE(setup_->directory.WriteStopped(R"({"eval_loss": 0.5})").ok());
  const EvaluatorPeer evaluator(chief(), CheckpointId{1, 1});
  Checkpointing resumed(chief(), ps(), evaluator);
  StartPs();
  EXPECT_TRUE(resumed.Due());
  resumed.Start();
  AnswerWrites();
  resumed.Finish();
  EXPECT_FALSE(resumed.Due());
}

TEST_F(CheckpointingTest, WhileAPsHasNotAnswered_NoManifestIsPlaced) {
  StartPs();
  checkpointing_.Start();
  ASSERT_EQ(network_.writes.size(), 2u);
  const FakeNetwork::Write first = TakeFirst(&network_.writes);
  first.done(Written(first.request));
  checkpointing_.Finish();
  EXPECT_TRUE(checkpointing_.in_progress());
  EXPECT_TRUE(InPlace().empty());
  AnswerWrites();
  checkpointing_.Finish();
  EXPECT_FALSE(checkpointing_.in_progress());
  ASSERT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 1}}));
  EXPECT_EQ(checkpointing_.newest(), (CheckpointId{1, 1}));
  EXPECT_EQ(checkpointing_.applied().lowest, 5);
  EXPECT_EQ(checkpointing_.applied().highest, 6);
  const auto manifest = ReadManifest(CheckpointDirectory(setup_->directory.path(), {1, 1}));
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->created_unix_ms(), clock_.UnixMillis());
}

TEST_F(CheckpointingTest, WhenAllIsCommitted_TheCheckpointIsFinal) {
  StartPs();
  Commit(7);
  EXPECT_FALSE(checkpointing_.Due());
  Commit(1);
  EXPECT_TRUE(checkpointing_.Due());
  clock_.Advance(seconds(3));
  Take();
  ASSERT_TRUE(checkpointing_.final_manifest().has_value());
  EXPECT_EQ(checkpointing_.final_since(), clock_.Now());
  // The chief was paused: the evaluator could not be heard meanwhile.
  clock_.Advance(seconds(70));
  checkpointing_.ForgiveGap(seconds(60));
  EXPECT_EQ(checkpointing_.final_since(), clock_.Now() - seconds(10));
  checkpointing_.ForgiveGap(seconds(60));
  EXPECT_EQ(checkpointing_.final_since(), clock_.Now());
  EXPECT_FALSE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, WhenAShardLacksWhatWasReported_TheCheckpointIsNotFinal) {
  StartPs();
  Commit(8);
  checkpointing_.Start();
  AppliedSet applied(4);
  applied.Insert({0, 1});
  AnswerWrites([&applied](WriteCheckpointShardsReply& first) {
    first.mutable_copies(0)->set_applied(applied.Serialize());
  });
  checkpointing_.Finish();
  EXPECT_FALSE(checkpointing_.final_manifest().has_value());
  EXPECT_TRUE(InPlace().empty());
  EXPECT_EQ(protocol().Progress().work_ids_committed, 1u);
  EXPECT_FALSE(checkpointing_.Due());
  Commit(7);
  clock_.Advance(seconds(2));
  ASSERT_TRUE(checkpointing_.Due());
  Take();
  EXPECT_TRUE(checkpointing_.final_manifest().has_value());
}

TEST_F(CheckpointingTest, WhenAFinalCheckpointOnDiskHasOtherExamples_TheRunIsNotOver) {
  StartPs();
  Commit(8);
  Take();
  CheckpointManifest manifest = *checkpointing_.final_manifest();
  setup_->checkpoint = GoodCheckpoint{{1, 1}, "", manifest, {}};
  EXPECT_TRUE(Checkpointing(chief(), ps(), evaluator_).final_manifest().has_value());
  manifest.mutable_checkpoint_shards(1)->set_examples_applied(protocol_test::kExamples - 1);
  setup_->checkpoint = GoodCheckpoint{{1, 1}, "", manifest, {}};
  EXPECT_FALSE(Checkpointing(chief(), ps(), evaluator_).final_manifest().has_value());
}

// Nothing of what was declared would be in what the run ends with.
TEST_F(CheckpointingTest, WhenVariablesAreDeclaredWhileTheFinalOneIsPutInPlace_IsTakenAgain) {
  StartPs();
  for (const FakeNetwork::Configure& call : network_.configures) call.done(OkStatus());
  network_.configures.clear();
  Commit(8);
  EXPECT_FALSE(checkpointing_.ends_run());
  checkpointing_.Start();
  EXPECT_TRUE(checkpointing_.ends_run()) << "nothing is to be declared from now on";
  AnswerWrites();
  disk_.Pause();
  checkpointing_.Finish();
  run_.add_variables()->set_name("late");
  run_.mutable_variables(0)->set_generation(1);
  run_.set_generation(1);
  disk_.Release();
  EXPECT_FALSE(checkpointing_.final_manifest().has_value());
  EXPECT_TRUE(InPlace().empty());
  EXPECT_FALSE(checkpointing_.ends_run());
  ps().Dispatch();
  for (const FakeNetwork::Configure& call : network_.configures) call.done(OkStatus());
  ASSERT_TRUE(checkpointing_.Due()) << "nobody has failed";
  Take();
  ASSERT_TRUE(checkpointing_.final_manifest().has_value());
  EXPECT_EQ(checkpointing_.final_manifest()->generation(), 1u);
  EXPECT_TRUE(checkpointing_.ends_run());
}

TEST_F(CheckpointingTest, WhenAFinalCheckpointOnDiskLacksWhatWasDeclared_TheRunIsNotOver) {
  StartPs();
  Commit(8);
  Take();
  setup_->checkpoint = GoodCheckpoint{{1, 1}, "", *checkpointing_.final_manifest(), {}};
  run_.set_generation(1);
  EXPECT_FALSE(Checkpointing(chief(), ps(), evaluator_).final_manifest().has_value());
}

TEST_F(CheckpointingTest, WhatWasReopened_IsKnownToLaterChiefs) {
  StartPs();
  Commit(3);
  protocol().PsLost(0, incarnations_[0]);
  ASSERT_TRUE(RegisterPs(0, 102).ok());
  AnswerAssigns();
  EXPECT_EQ(checkpointing_.BatchesReopened(), 3u);
  Take();
  ASSERT_EQ(InPlace().size(), 1u);
  const CheckpointId id = InPlace().front();
  const auto manifest = ReadManifest(CheckpointDirectory(setup_->directory.path(), id));
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  setup_->checkpoint = GoodCheckpoint{id, "", *manifest, {}};
  EXPECT_EQ(Checkpointing(chief(), ps(), evaluator_).BatchesReopened(), 3u + 3u);
  protocol_.emplace(protocol_test::Options());
  EXPECT_EQ(Checkpointing(chief(), ps(), evaluator_).BatchesReopened(), 3u);
}

TEST_F(CheckpointingTest, WhenTheDiskIsFullForTenMinutes_IsTriedWithGrowingPausesAndThenPlaced) {
  checkpoint_rule().every_steps = 1;
  StartPs();
  Commit(1);
  const auto begin = clock_.Now();
  std::vector<std::int64_t> pauses;
  auto failed_at = begin;
  while (clock_.Now() - begin < seconds(600)) {
    if (checkpointing_.Due()) {
      pauses.push_back(std::chrono::duration_cast<seconds>(clock_.Now() - failed_at).count());
      failed_at = clock_.Now();
      checkpointing_.Start();
      FailWrites(ErrnoError(ENOSPC, "write x"));
      checkpointing_.Finish();
    }
    clock_.Advance(milliseconds(100));
  }
  ASSERT_GT(pauses.size(), 7u);
  EXPECT_LT(pauses.size(), 30u);
  pauses.resize(8);
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{0, 1, 2, 4, 8, 16, 30, 30}));
  const CheckpointProblem problem = checkpointing_.problem();
  EXPECT_EQ(problem.failing, seconds(600));
  EXPECT_EQ(problem.age, seconds(600));
  EXPECT_EQ(ErrnoOf(problem.error), ENOSPC);
  clock_.Advance(seconds(30));
  ASSERT_TRUE(checkpointing_.Due());
  Take();
  EXPECT_EQ(InPlace().size(), 1u);
  EXPECT_EQ(checkpointing_.problem().failing, seconds(0));
  EXPECT_EQ(checkpointing_.problem().age, seconds(0));
}

TEST_F(CheckpointingTest, WhenTheFinalOneCannotBeWritten_TheRunWaitsForIt) {
  StartPs();
  Commit(8);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(checkpointing_.Due());
    checkpointing_.Start();
    FailWrites(ErrnoError(EIO, "write x"));
    checkpointing_.Finish();
    EXPECT_FALSE(checkpointing_.Due());
    clock_.Advance(seconds(30));
  }
  EXPECT_FALSE(checkpointing_.final_manifest().has_value());
  Take();
  EXPECT_TRUE(checkpointing_.final_manifest().has_value());
}

TEST_F(CheckpointingTest, WhenOneIsPlacedInBetween_ThePausesBeginAgain) {
  checkpoint_rule().every_steps = 1;
  StartPs();
  Commit(1);
  for (int round = 0; round < 2; ++round) {
    for (int failure = 0; failure < 4; ++failure) {
      checkpointing_.Start();
      FailWrites(ResourceExhaustedError("disk full"));
      checkpointing_.Finish();
    }
    clock_.Advance(seconds(8));
    EXPECT_TRUE(checkpointing_.Due());
    Take();
    Commit(1);
  }
  EXPECT_EQ(checkpointing_.problem().failing, seconds(0));
}

TEST_F(CheckpointingTest, WhenSomebodyIsToldToStop_TheNextTryComesWithinASecond) {
  StartPs();
  Commit(1);
  for (int failure = 0; failure < 6; ++failure) {
    checkpointing_.Start();
    FailWrites(ResourceExhaustedError("disk full"));
    checkpointing_.Finish();
  }
  protocol().Drain();
  EXPECT_FALSE(checkpointing_.Due());
  clock_.Advance(seconds(1));
  EXPECT_TRUE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, WhenAPsIsAway_IsAbandonedAndTriedAfterGrowingPauses) {
  checkpoint_rule().every_steps = 1;
  StartPs();
  Commit(1);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(checkpointing_.Due());
    checkpointing_.Start();
    FailWrites(UnavailableError("away"));
    checkpointing_.Finish();
    clock_.Advance(seconds(i == 0 ? 1 : 0));
    if (i == 0) continue;
    EXPECT_FALSE(checkpointing_.Due());
    clock_.Advance(seconds(30));
  }
  EXPECT_EQ(chief_stats_.checkpoints_abandoned->Value(), 6u);
  EXPECT_NE(checkpointing_.problem().error.message().find("ps "), std::string::npos);
  EXPECT_TRUE(ListCheckpointFolders(setup_->directory.path())->empty());
}

TEST_F(CheckpointingTest, WhileTheDiskHangs_NothingIsAskedOfThePsAndNothingIsPlaced) {
  StartPs();
  disk_.Pause();
  checkpointing_.Start();
  checkpointing_.Finish();
  EXPECT_TRUE(network_.writes.empty());
  clock_.Advance(seconds(61));
  EXPECT_EQ(checkpointing_.problem().failing, seconds(61));
  disk_.Release();
  EXPECT_EQ(network_.writes.size(), 2u);
  disk_.Pause();
  AnswerWrites();
  checkpointing_.Finish();
  checkpointing_.Finish();
  EXPECT_EQ(disk_.waiting(), 1u);
  EXPECT_TRUE(checkpointing_.in_progress());
  EXPECT_FALSE(checkpointing_.newest().has_value());
  disk_.Release();
  EXPECT_EQ(checkpointing_.newest(), (CheckpointId{1, 1}));
}

TEST_F(CheckpointingTest, WhenAShardChangesItsOwnerWhileTheManifestIsWritten_ItIsRemovedAgain) {
  StartPs();
  checkpointing_.Start();
  AnswerWrites();
  disk_.Pause();
  checkpointing_.Finish();
  ASSERT_TRUE(RegisterPs(1, 201, 1).ok());
  AnswerAssigns();
  disk_.Release();
  EXPECT_FALSE(checkpointing_.in_progress());
  EXPECT_FALSE(checkpointing_.newest().has_value());
  EXPECT_TRUE(InPlace().empty());
}

TEST_F(CheckpointingTest, WhenAnAbandonedOneCannotBeRemoved_GoesWithTheNextThatIsPlaced) {
  StartPs();
  evaluator_.Poll(chief_test::Numbered({}), {.newest = CheckpointId{1, 1}});
  checkpointing_.Start();
  {
    const ScopedFileFaults faults([](std::string_view call, const std::string& path) {
      return call == "open" && path.ends_with("1-1") ? EIO : 0;
    });
    FailWrites(UnavailableError("away"));
    checkpointing_.Finish();
  }
  EXPECT_EQ(ListCheckpointFolders(setup_->directory.path())->size(), 1u);
  Take();
  EXPECT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 2}}));
  EXPECT_EQ(ListCheckpointFolders(setup_->directory.path())->size(), 1u);
}

TEST_F(CheckpointingTest, WhenAShardChangesItsOwnerMeanwhile_IsAbandoned) {
  StartPs();
  checkpointing_.Start();
  ASSERT_TRUE(RegisterPs(1, 201, 1).ok());
  AnswerAssigns();
  AnswerWrites();
  checkpointing_.Finish();
  EXPECT_FALSE(checkpointing_.in_progress());
  EXPECT_TRUE(InPlace().empty());
}

// When all is committed, no worker pushes any more that could say so.
TEST_F(CheckpointingTest, WhenAnOwnerLacksItsShard_HasFailedAndThatPsRegistersAgain) {
  StartPs();
  Commit(8);
  ASSERT_TRUE(checkpointing_.Due());
  checkpointing_.Start();
  RefuseWriteOfPs1();
  checkpointing_.Finish();
  EXPECT_FALSE(checkpointing_.in_progress());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(checkpointing_.problem().failing, milliseconds(1));
  EXPECT_NE(checkpointing_.problem().error.message().find("ps 1: shard 1"), std::string::npos);
  EXPECT_TRUE(Heartbeat(0, incarnations_[0]).known());
  EXPECT_FALSE(Heartbeat(1, incarnations_[1]).known());
  ASSERT_TRUE(RegisterPs(1, 101).ok());
  AnswerAssigns();
  ASSERT_TRUE(protocol().AllActive());
  Commit(8);
  EXPECT_FALSE(checkpointing_.Due());
  clock_.Advance(seconds(1));
  ASSERT_TRUE(checkpointing_.Due());
  Take();
  EXPECT_TRUE(checkpointing_.final_manifest().has_value());
  EXPECT_EQ(checkpointing_.problem().failing, seconds(0));
}

TEST_F(CheckpointingTest, WhenAPsNoLongerOwnsWhatItRefuses_NothingHasFailed) {
  StartPs();
  Commit(8);
  checkpointing_.Start();
  const Result<RegisterPsReply> next = RegisterPs(1, 201, 1);
  ASSERT_TRUE(next.ok());
  AnswerAssigns();
  RefuseWriteOfPs1();
  checkpointing_.Finish();
  EXPECT_FALSE(checkpointing_.in_progress());
  EXPECT_EQ(checkpointing_.problem().error, OkStatus());
  EXPECT_TRUE(Heartbeat(1, next->incarnation()).known());
  Commit(8);
  EXPECT_TRUE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, WhenAPsAnswersWithAnotherTerm_HasFailed) {
  StartPs();
  Commit(8);
  checkpointing_.Start();
  AnswerWrites([](WriteCheckpointShardsReply& first) {
    first.mutable_checkpoint_shards(0)->set_term_counter(99);
  });
  checkpointing_.Finish();
  EXPECT_FALSE(checkpointing_.in_progress());
  EXPECT_FALSE(checkpointing_.Due());
  clock_.Advance(seconds(1));
  EXPECT_EQ(checkpointing_.problem().failing, seconds(1));
  EXPECT_TRUE(checkpointing_.Due());
}

TEST_F(CheckpointingTest, WhenAHigherTermWasTaken_IsAbandoned) {
  StartPs();
  checkpointing_.Start();
  AnswerWrites();
  ASSERT_EQ(TakeChiefTerm(setup_->directory.path())->number, 2u);
  checkpointing_.Finish();
  EXPECT_TRUE(InPlace().empty());
}

TEST_F(CheckpointingTest, OldOnesGoOnceItIsKnownWhatTheEvaluatorReads) {
  StartPs();
  for (int i = 0; i < 3; ++i) Take();
  EXPECT_EQ(InPlace().size(), 3u);
  evaluator_.Poll(chief_test::Numbered({}), {.newest = CheckpointId{1, 1}});  // pins the first
  Take();
  EXPECT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 1}, {1, 3}, {1, 4}}));
  evaluator_.Poll(chief_test::Numbered({}), {.newest = CheckpointId{1, 4}});
  Take();
  EXPECT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 4}, {1, 5}}));
}

// The evaluator was given the first checkpoint by the former chief and has read it ever since, for
// longer than its polls may be late.
TEST_F(CheckpointingTest, WhenTheEvaluatorStillReadsWhatAFormerChiefNamed_ThatStays) {
  StartPs();
  for (int i = 0; i < 4; ++i) Take();
  clock_.Advance(seconds(61));
  Take();
  EXPECT_EQ(InPlace().size(), 5u);
  PollEvaluatorRequest reading = chief_test::Numbered({});
  reading.set_pinned(CheckpointName({1, 1}));
  evaluator_.Poll(reading, {.newest = CheckpointId{1, 5}});
  Take();
  EXPECT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 1}, {1, 5}, {1, 6}}));
}

TEST_F(CheckpointingTest, WhenAnOldOneIsTheBest_ItStaysUntilAnotherIs) {
  setup_->job.keep_best = ScoreRule{"auc", ScoreRule::Better::kHigher};
  StartPs();
  const auto evaluated = [this](const CheckpointId& id, double auc, const CheckpointId& newest) {
    PollEvaluatorRequest request = chief_test::Numbered({});
    request.set_checkpoint(CheckpointName(id));
    (*request.mutable_metrics())["auc"] = auc;
    evaluator_.Poll(request, {.newest = newest});
  };
  Take();
  evaluated({1, 1}, 0.75, {1, 1});
  for (int i = 0; i < 3; ++i) Take();
  evaluated({1, 4}, 0.5, {1, 4});
  for (int i = 0; i < 3; ++i) Take();
  EXPECT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 1}, {1, 6}, {1, 7}}));
  evaluated({1, 7}, 0.875, {1, 7});
  for (int i = 0; i < 3; ++i) Take();
  EXPECT_EQ(InPlace(), (std::vector<CheckpointId>{{1, 7}, {1, 9}, {1, 10}}));
}

}  // namespace
}  // namespace pstrain
