#include "runtime/chief/disk/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>

#include "base/os/file_faults.h"
#include "runtime/checkpoint/evaluations.h"
#include "runtime/checkpoint/manifest.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ScoreRule kAuc{"auc", ScoreRule::Better::kHigher};

class ScoresTest : public chief_test::ChiefPartsTest {
 protected:
  ScoresTest() {
    setup_->job.keep_best = kAuc;
    setup_->evaluations = *Open(2);
  }

  void StopAfter(std::uint32_t patience) {
    setup_->job.early_stopping = EarlyStoppingRule{kAuc, patience, 0};
  }
  /// A checkpoint of that number, with 100 examples for each.
  void Place(std::uint64_t number) {
    const CheckpointId id{1, number};
    ASSERT_TRUE(CreateCheckpointDirectory(setup_->directory.path(), id).ok());
    CheckpointManifest manifest;
    manifest.set_run_id("run");
    manifest.set_chief_term(id.chief_term);
    manifest.set_number(id.number);
    manifest.set_shards(1);
    manifest.add_checkpoint_shards()->set_file("shard-0");
    manifest.set_examples_committed(static_cast<std::int64_t>(100 * number));
    const Status placed =
        WriteManifest(CheckpointDirectory(setup_->directory.path(), id), manifest, nullptr);
    ASSERT_TRUE(placed.ok()) << placed.ToString();
  }
  void Evaluate(Scores& scores, std::uint64_t number, double auc) {
    Place(number);
    scores.Evaluated({1, number}, {{"auc", auc}});
  }
  RunEvaluations OnDisk() const { return *ReadEvaluations(setup_->directory.path()); }
  Result<RunEvaluations> Open(std::uint32_t epochs) {
    ChiefJob job = setup_->job;
    job.epochs = epochs;
    return OpenEvaluations(setup_->directory.path(), job, "spec.training.epochs");
  }
  /// 20 of 70 examples are granted and committed, and three evaluations were of no use.
  void StopEarly(Scores& scores) {
    StartPs();
    Commit(2);
    Evaluate(scores, 1, 0.75);
    Evaluate(scores, 2, 0.5);
    Evaluate(scores, 3, 0.75);
    scores.Watch();
  }
};

TEST_F(ScoresTest, AnEvaluation_IsOnDiskAndTheBestIsPinned) {
  Scores scores(chief());
  EXPECT_THAT(scores.Pinned(), IsEmpty());
  Evaluate(scores, 1, 0.5);
  Evaluate(scores, 2, 0.75);
  Evaluate(scores, 3, 0.75);
  EXPECT_THAT(scores.Pinned(), ElementsAre(CheckpointId{1, 2}));
  const RunEvaluations written = OnDisk();
  EXPECT_EQ(written.history_size(), 3);
  EXPECT_EQ(written.history(2).examples_committed(), 300);
  EXPECT_EQ(written.best().checkpoint(), "1-2");
  EXPECT_EQ(written.best_metric(), "auc");
  EXPECT_EQ(scores.evaluations()->best().checkpoint(), "1-2");
  // The next chief of the run.
  setup_->evaluations = *Open(2);
  EXPECT_THAT(Scores(chief()).Pinned(), ElementsAre(CheckpointId{1, 2}));
}

// Until it is known which is the best on disk, either may be.
TEST_F(ScoresTest, WhileTheDiskDoesNotAnswer_BothStay) {
  Scores scores(chief());
  Evaluate(scores, 1, 0.5);
  disk_.Pause();
  Evaluate(scores, 2, 0.75);
  EXPECT_FALSE(scores.Settled());
  EXPECT_THAT(scores.Pinned(), ElementsAre(CheckpointId{1, 1}, CheckpointId{1, 2}));
  disk_.Release();
  EXPECT_TRUE(scores.Settled());
  EXPECT_THAT(scores.Pinned(), ElementsAre(CheckpointId{1, 2}));
}

TEST_F(ScoresTest, WhenTheDiskIsFull_TriesUntilItIsThere) {
  Scores scores(chief());
  Place(1);
  {
    const ScopedFileFaults faults(
        [](std::string_view call, const std::string&) { return call == "write" ? ENOSPC : 0; });
    scores.Evaluated({1, 1}, {{"auc", 0.5}});
    scores.Watch();
  }
  EXPECT_FALSE(scores.Settled());
  clock_.Advance(seconds(30));
  scores.Watch();
  EXPECT_TRUE(scores.Settled());
}

TEST_F(ScoresTest, WhenACheckpointIsGone_ItsScoresAreLeftOut) {
  Scores scores(chief());
  scores.Evaluated({1, 7}, {{"auc", 0.5}});
  EXPECT_TRUE(scores.Settled());
  EXPECT_THAT(scores.Pinned(), IsEmpty());
  EXPECT_EQ(scores.evaluations()->history_size(), 0);
}

TEST_F(ScoresTest, WhenAValueIsNotFinite_WarnsAndKeepsTheBest) {
  Scores scores(chief());
  Evaluate(scores, 1, 0.5);
  testing::internal::CaptureStderr();
  Evaluate(scores, 2, std::nan(""));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no finite value"));
  EXPECT_THAT(scores.Pinned(), ElementsAre(CheckpointId{1, 1}));
}

TEST_F(ScoresTest, WhenAnotherChiefHasTheRun_SaysSo) {
  Scores scores(chief());
  Place(1);
  MakeSetup();
  scores.Evaluated({1, 1}, {{"auc", 0.5}});
  EXPECT_TRUE(scores.superseded());
  EXPECT_TRUE(OnDisk().history().empty());
}

TEST_F(ScoresTest, WhenPatienceIsOver_TheRunEndsWithWhatWasGranted) {
  StopAfter(2);
  Scores scores(chief());
  StopEarly(scores);
  EXPECT_TRUE(protocol().early_end().begun());
  EXPECT_EQ(protocol().Progress().examples_expected, 20);
  EXPECT_FALSE(scores.GrantsWait());
  const EarlyStop stop = OnDisk().early_stop();
  EXPECT_EQ(stop.metric(), "auc");
  EXPECT_EQ(stop.patience(), 2u);
  EXPECT_EQ(stop.best().checkpoint(), "1-1");
  EXPECT_EQ(stop.examples_committed(), 300);
  EXPECT_EQ(AppliedSet::Parse(stop.granted())->size(), 2u);
}

TEST_F(ScoresTest, WhileItIsDecided_NothingIsGranted) {
  StopAfter(1);
  Scores scores(chief());
  StartPs();
  Commit(2);
  Evaluate(scores, 1, 0.75);
  EXPECT_FALSE(scores.GrantsWait());
  Evaluate(scores, 2, 0.5);
  EXPECT_TRUE(scores.GrantsWait());
  disk_.Pause();
  scores.Watch();
  scores.Watch();
  EXPECT_EQ(disk_.waiting(), 1u);
  EXPECT_TRUE(scores.GrantsWait());
  EXPECT_FALSE(protocol().early_end().begun());
  disk_.Release();
  EXPECT_TRUE(protocol().early_end().begun());
}

// Killed before the decision was on disk: the history is, and grants have to wait.
TEST_F(ScoresTest, WhenTheNextChiefFindsThatPatienceIsOver_ItDecidesBeforeItGrants) {
  StopAfter(1);
  {
    Scores former(chief());
    Evaluate(former, 1, 0.75);
    Evaluate(former, 2, 0.5);
  }
  setup_->evaluations = *Open(2);
  Scores scores(chief());
  EXPECT_TRUE(scores.GrantsWait());
  scores.Watch();
  EXPECT_FALSE(protocol().early_end().begun());
  StartPs();
  Commit(1);
  scores.Watch();
  EXPECT_TRUE(protocol().early_end().begun());
  EXPECT_EQ(protocol().Progress().examples_expected, 10);
}

TEST_F(ScoresTest, WhenAllIsGranted_TheRunEndsByItself) {
  StopAfter(1);
  Scores scores(chief());
  StartPs();
  Commit(8);
  Evaluate(scores, 1, 0.75);
  Evaluate(scores, 2, 0.5);
  scores.Watch();
  EXPECT_FALSE(protocol().early_end().begun());
  EXPECT_FALSE(scores.GrantsWait());
  EXPECT_FALSE(OnDisk().has_early_stop());
}

TEST_F(ScoresTest, WhenTheRunIsToStop_TheNextChiefDecides) {
  StopAfter(2);
  Scores scores(chief());
  protocol().Drain();
  StopEarly(scores);
  EXPECT_FALSE(protocol().early_end().begun());
  EXPECT_FALSE(OnDisk().has_early_stop());
}

TEST_F(ScoresTest, WhenTheRunHasStoppedEarly_TheDecisionHolds) {
  StopAfter(2);
  Scores scores(chief());
  StopEarly(scores);
  const Result<RunEvaluations> same = Open(2);
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->has_early_stop());
  setup_->evaluations = *same;
  EXPECT_FALSE(ExamplesExpected(*setup_).has_value());
  EXPECT_TRUE(MakeProtocolOptions(context_, *setup_, {}).early_end.has_value());
}

TEST_F(ScoresTest, WhenTheRunHasStoppedEarly_MoreEpochsTrainOn) {
  StopAfter(2);
  Scores scores(chief());
  StopEarly(scores);
  StopAfter(5);
  const Result<RunEvaluations> more = Open(3);
  ASSERT_TRUE(more.ok());
  EXPECT_FALSE(more->has_early_stop());
  EXPECT_EQ(more->not_counted(), 3u);
  EXPECT_EQ(more->best().checkpoint(), "1-1");
}

TEST_F(ScoresTest, WhenTheRunHasStoppedEarly_AnotherRuleIsRefusedByName) {
  StopAfter(2);
  Scores scores(chief());
  StopEarly(scores);
  StopAfter(5);
  const Status status = Open(2).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "spec.training.earlyStopping.patience was 2 when the run was stopped early and is 5 "
            "now; set it back, or raise spec.training.epochs above 2 to train on");
  setup_->job.early_stopping.reset();
  EXPECT_THAT(Open(2).status().message(), HasSubstr("earlyStopping was there"));
}

TEST_F(ScoresTest, WhenTheEvaluationIsAnotherOne_ScoresAreComparedAnewAndTheDecisionHolds) {
  StopAfter(2);
  Scores scores(chief());
  StopEarly(scores);
  setup_->job.evaluation_digest = 12345;
  const Result<RunEvaluations> other = Open(2);
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other->history().empty());
  EXPECT_FALSE(other->has_best());
  EXPECT_TRUE(other->has_early_stop());
}

}  // namespace
}  // namespace pstrain
