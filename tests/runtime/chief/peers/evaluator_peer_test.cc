#include "runtime/chief/peers/evaluator_peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr CheckpointId kFormer{1, 4};
constexpr CheckpointId kNewest{2, 1};

using chief_test::Numbered;

class EvaluatorPeerTest : public chief_test::ChiefPartsTest {
 protected:
  static PollEvaluatorRequest Evaluated(CheckpointId checkpoint, double eval_loss) {
    PollEvaluatorRequest request;
    request.set_checkpoint(CheckpointName(checkpoint));
    (*request.mutable_metrics())["eval_loss"] = eval_loss;
    return request;
  }
  void Stop(double eval_loss) {
    const std::string json = R"({"eval_loss": )" + std::to_string(eval_loss) + "}";
    ASSERT_TRUE(setup_->directory.WriteStopped(json).ok());
  }
  void Announce() { ASSERT_TRUE(WriteFileAtomically(RunFile("announce"), "").ok()); }
};

TEST_F(EvaluatorPeerTest, WhenTheRunWasNeverStopped_GrantsDoNotWait) {
  Announce();
  const EvaluatorPeer evaluator(chief(), kFormer);
  EXPECT_FALSE(evaluator.GrantsWait());
  EXPECT_FALSE(evaluator.RestoredStateWanted());
}

TEST_F(EvaluatorPeerTest, WhenAStoppedRunIsResumed_GrantsWaitForTheScoreOfTheRestoredState) {
  Stop(0.5);
  EvaluatorPeer evaluator(chief(), kFormer);
  EXPECT_TRUE(evaluator.GrantsWait());
  EXPECT_TRUE(evaluator.RestoredStateWanted());
  // The score of what was there before the restore is not it.
  evaluator.Poll(Numbered(Evaluated(kFormer, 0.5)), {.newest = kFormer});
  evaluator.CheckRestored(kFormer, false);
  EXPECT_TRUE(evaluator.GrantsWait());
  evaluator.CheckRestored(kNewest, true);
  EXPECT_TRUE(evaluator.GrantsWait());
  evaluator.Poll(Numbered(Evaluated(kNewest, 0.625)), {.newest = kNewest});
  evaluator.CheckRestored(kNewest, true);
  EXPECT_FALSE(evaluator.GrantsWait());
  EXPECT_EQ(evaluator.restored_loss(), 0.625);
  EXPECT_EQ(setup_->directory.RestoredEvalLoss(), 0.625);
  EXPECT_FALSE(setup_->directory.StoppedEvalLoss().has_value());
}

// Nobody has measured a loss of 0.
TEST_F(EvaluatorPeerTest, WhenTheEvaluationHasNoLoss_TheRunContinuesWithoutOne) {
  Stop(0.5);
  Announce();
  EvaluatorPeer evaluator(chief(), kFormer);
  PollEvaluatorRequest request = Evaluated(kNewest, 0);
  request.clear_metrics();
  (*request.mutable_metrics())["auc"] = 0.75;
  evaluator.Poll(Numbered(request), {.newest = kNewest});
  testing::internal::CaptureStderr();
  evaluator.CheckRestored(kNewest, true);
  evaluator.CheckRestored(kNewest, true);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(evaluator.restored_loss().has_value());
  EXPECT_FALSE(setup_->directory.RestoredEvalLoss().has_value());
  EXPECT_FALSE(setup_->directory.StoppedEvalLoss().has_value());
  EXPECT_FALSE(evaluator.GrantsWait());
  EXPECT_EQ(evaluator.metrics().size(), 1u);
  EXPECT_NE(log.find("has no eval_loss"), std::string::npos) << log;
  EXPECT_EQ(log.find("has no eval_loss"), log.rfind("has no eval_loss")) << log;
}

TEST_F(EvaluatorPeerTest, WhenACheckpointIsNotThereYet_ItsEvaluationCountsAsNotMade) {
  EvaluatorPeer evaluator(chief(), std::nullopt);
  evaluator.Poll(Numbered(Evaluated({9, 9}, 0.5)), {.newest = kNewest});
  EXPECT_FALSE(evaluator.Done(kNewest));
  EXPECT_TRUE(evaluator.metrics().empty());
  EXPECT_EQ(Refused(RefusalReason::kOutOfRange), 1u);
}

TEST_F(EvaluatorPeerTest, WhenSomebodyAnnouncesTheRestoredLoss_GrantsWaitUntilThatIsDone) {
  Stop(0.5);
  Announce();
  EvaluatorPeer evaluator(chief(), kFormer);
  evaluator.Poll(Numbered(Evaluated(kNewest, 0.625)), {.newest = kNewest});
  evaluator.CheckRestored(kNewest, true);
  evaluator.CheckRestored(kNewest, true);
  EXPECT_TRUE(evaluator.GrantsWait());
  ASSERT_TRUE(RemoveFile(RunFile("announce")).ok());
  evaluator.CheckRestored(kNewest, true);
  EXPECT_FALSE(evaluator.GrantsWait());
}

TEST_F(EvaluatorPeerTest, WhenTheAnnouncementIsLate_GrantsWaitNoLongerThanTheLimit) {
  Stop(0.5);
  Announce();
  EvaluatorPeer evaluator(chief(), kFormer);
  clock_.Advance(seconds(40));  // The limit counts from the moment at which the loss is known.
  evaluator.Poll(Numbered(Evaluated(kNewest, 0.625)), {.newest = kNewest});
  evaluator.CheckRestored(kNewest, true);
  clock_.Advance(seconds(30) - milliseconds(1));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_TRUE(evaluator.GrantsWait());
  clock_.Advance(milliseconds(1));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_FALSE(evaluator.GrantsWait());
}

TEST_F(EvaluatorPeerTest, WhileTheRestoredStateIsNotEvaluated_TheLogSaysSoOnce) {
  Stop(0.5);
  EvaluatorPeer evaluator(chief(), kFormer);
  evaluator.CheckRestored(kFormer, false);
  clock_.Advance(seconds(5));
  EXPECT_EQ(evaluator.WaitedForRestored(), seconds(0)) << "shards have no owner yet";
  StartPs();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    evaluator.CheckRestored(kFormer, false);
    clock_.Advance(seconds(1));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string_view line = "waiting for the evaluation of the restored state";
  EXPECT_NE(log.find(line), std::string::npos) << log;
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
  EXPECT_EQ(evaluator.WaitedForRestored(), seconds(3));
}

TEST_F(EvaluatorPeerTest, WhenTheEvaluatorDoesNotCome_AResumedRunWaitsUntilItsDeadline) {
  Stop(0.5);
  Announce();
  EvaluatorPeer evaluator(chief(), kFormer);
  clock_.Advance(seconds(100));  // Without shards there is nothing to evaluate.
  evaluator.CheckRestored(kFormer, false);
  EXPECT_TRUE(evaluator.GrantsWait());
  StartPs();
  evaluator.CheckRestored(kFormer, false);
  clock_.Advance(seconds(60));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_TRUE(evaluator.GrantsWait());
  clock_.Advance(milliseconds(1));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_FALSE(evaluator.GrantsWait());
  EXPECT_FALSE(evaluator.RestoredStateWanted());
  // The next chief does not wait again, and does not take a later loss for the restored one.
  EXPECT_FALSE(setup_->directory.StoppedEvalLoss().has_value());
  evaluator.Poll(Numbered(Evaluated(kNewest, 0.625)), {.newest = kNewest});
  evaluator.CheckRestored(kNewest, true);
  EXPECT_FALSE(evaluator.restored_loss().has_value());
}

// Its evaluation may be queued behind the pause.
TEST_F(EvaluatorPeerTest, WhenTheChiefStoodStill_TheRestoredStateIsNotGivenUpForThat) {
  Stop(0.5);
  Announce();
  EvaluatorPeer evaluator(chief(), kFormer);
  StartPs();
  evaluator.CheckRestored(kFormer, false);
  clock_.Advance(seconds(300));
  evaluator.ForgiveGap(seconds(300));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_TRUE(evaluator.RestoredStateWanted());
  evaluator.Poll(Numbered(Evaluated(kNewest, 0.625)), {.newest = kNewest});
  evaluator.CheckRestored(kNewest, true);
  EXPECT_EQ(evaluator.restored_loss(), 0.625);
  clock_.Advance(seconds(300));
  evaluator.ForgiveGap(seconds(300));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_TRUE(evaluator.GrantsWait()) << "nobody could show it meanwhile";
  clock_.Advance(seconds(30));
  evaluator.CheckRestored(kNewest, true);
  EXPECT_FALSE(evaluator.GrantsWait());
}

TEST_F(EvaluatorPeerTest, WhenTheNewestIsNotEvaluated_NamesItAndPinsIt) {
  EvaluatorPeer evaluator(chief(), std::nullopt);
  EXPECT_FALSE(evaluator.PinKnown());
  EXPECT_EQ(evaluator.Poll(Numbered({}), {}).checkpoint(), "");
  EXPECT_FALSE(evaluator.pinned().has_value());
  EXPECT_TRUE(evaluator.PinKnown());  // It reads nothing.
  EXPECT_EQ(evaluator.Poll(Numbered({}), {.newest = kNewest}).checkpoint(),
            CheckpointName(kNewest));
  EXPECT_EQ(evaluator.pinned(), kNewest);
  EXPECT_TRUE(evaluator.PinKnown());
  EXPECT_FALSE(evaluator.Done(kNewest));
  EXPECT_EQ(evaluator.Poll(Numbered(Evaluated(kNewest, 1)), {.newest = kNewest}).checkpoint(), "");
  EXPECT_FALSE(evaluator.pinned().has_value());
  EXPECT_TRUE(evaluator.Done(kNewest));
}

PollEvaluatorRequest Reading(CheckpointId checkpoint) {
  PollEvaluatorRequest request;
  request.set_pinned(CheckpointName(checkpoint));
  return request;
}

TEST_F(EvaluatorPeerTest, WhenTheChiefChangesDuringAnEvaluation_WhatIsReadStaysPinned) {
  EvaluatorPeer next_chief(chief(), kNewest);
  EXPECT_FALSE(next_chief.PinKnown());
  const PollEvaluatorReply reply = next_chief.Poll(Numbered(Reading(kFormer)), {.newest = kNewest});
  EXPECT_EQ(reply.directive(), CONTINUE);
  EXPECT_EQ(reply.checkpoint(), "");
  EXPECT_FALSE(next_chief.PinKnown()) << "there may be a later attempt that reads another one";
  clock_.Advance(seconds(10));
  EXPECT_TRUE(next_chief.PinKnown());
  EXPECT_EQ(next_chief.pinned(), kFormer);
  // The end of the run is told to the poll after the evaluation.
  next_chief.Poll(Numbered(Reading(kFormer)), {.releasing = true, .finished = true});
  EXPECT_FALSE(next_chief.ToldEnd());
  EXPECT_EQ(next_chief.Poll(Numbered(Evaluated(kFormer, 1)), {.newest = kNewest}).checkpoint(),
            CheckpointName(kNewest));
  EXPECT_EQ(next_chief.pinned(), kNewest);
}

TEST_F(EvaluatorPeerTest, WhenAPollComesLateOrTwice_WhatIsReadNowStaysPinned) {
  EvaluatorPeer evaluator(chief(), kNewest);
  const PollEvaluatorRequest reading = Numbered(Reading(kFormer));
  const PollEvaluatorRequest idle = Numbered({});
  const PollEvaluatorRequest evaluated = Numbered(Evaluated(kFormer, 1));
  evaluator.Poll(evaluated, {.newest = kNewest});
  ASSERT_EQ(evaluator.pinned(), kNewest);
  for (const PollEvaluatorRequest& late : {reading, idle, evaluated}) {
    const PollEvaluatorReply reply = evaluator.Poll(late, {.newest = CheckpointId{3, 1}});
    EXPECT_EQ(reply.directive(), CONTINUE);
    EXPECT_EQ(reply.checkpoint(), "");
    EXPECT_EQ(evaluator.pinned(), kNewest);
  }
}

TEST_F(EvaluatorPeerTest, WhenItWasReplaced_IsToldSoAndDoesNotTakeThePinOfItsSuccessor) {
  EvaluatorPeer evaluator(chief(), kNewest);
  const auto attempt = [](std::uint32_t number, PollEvaluatorRequest request) {
    request = Numbered(std::move(request));
    request.set_process(100 + number);
    request.set_attempt(number);
    return request;
  };
  evaluator.Poll(attempt(0, {}), {.newest = kFormer});
  ASSERT_EQ(evaluator.pinned(), kFormer);
  evaluator.Poll(attempt(1, {}), {.newest = kNewest});
  ASSERT_EQ(evaluator.pinned(), kNewest);
  for (const auto& request : {Reading(kFormer), Evaluated(kFormer, 1), PollEvaluatorRequest()}) {
    EXPECT_EQ(evaluator.Poll(attempt(0, request), {.newest = kNewest}).directive(), REPLACED);
    EXPECT_EQ(evaluator.pinned(), kNewest);
  }
  EXPECT_TRUE(evaluator.metrics().empty());
  EXPECT_EQ(evaluator.Poll(attempt(1, Evaluated(kNewest, 2)), {.newest = kNewest}).directive(),
            CONTINUE);
  EXPECT_TRUE(evaluator.Done(kNewest));
}

TEST_F(EvaluatorPeerTest, WhenAnAttemptCannotBeTrueYet_IsPutOff) {
  const EvaluatorPeer evaluator(chief(), kNewest);
  PollEvaluatorRequest request;
  EXPECT_TRUE(evaluator.CheckAttempt(request, "peer").ok());
  request.set_attempt(0xffffffff);
  EXPECT_EQ(evaluator.CheckAttempt(request, "peer").code(), StatusCode::kUnavailable);
  EXPECT_EQ(Refused(RefusalReason::kOutOfRange), 1u);
}

TEST_F(EvaluatorPeerTest, WhenACheckpointCannotBeRead_CountsNotAsEvaluated) {
  EvaluatorPeer evaluator(chief(), std::nullopt);
  PollEvaluatorRequest request = Evaluated(kNewest, 1);
  request.set_error("truncated");
  evaluator.Poll(Numbered(request), {.newest = kNewest});
  EXPECT_FALSE(evaluator.Done(kNewest));
  EXPECT_TRUE(evaluator.metrics().empty());
}

TEST_F(EvaluatorPeerTest, WhenACheckpointCannotBeReadAgainAndAgain_TheLogSaysEachReasonOnce) {
  EvaluatorPeer evaluator(chief(), std::nullopt);
  const auto lines = [&evaluator](const char* reason, int polls) {
    PollEvaluatorRequest request = Evaluated(kNewest, 1);
    request.set_error(reason);
    testing::internal::CaptureStderr();
    for (int i = 0; i < polls; ++i) evaluator.Poll(Numbered(request), {.newest = kNewest});
    const std::string log = testing::internal::GetCapturedStderr();
    return std::ranges::count(log, '\n');
  };
  EXPECT_EQ(lines("Input/output error", 5), 1);
  EXPECT_EQ(lines("Input/output error", 5), 0);
  EXPECT_EQ(lines("damaged", 5), 1);
}

// A program's: the former chief asked for it, and what it had saved last may be given up.
TEST_F(EvaluatorPeerTest, OfAProgram_WhatAnotherChiefAskedForCountsAsNotMade) {
  setup_->job.starts_over = true;
  Stop(0.5);
  EvaluatorPeer evaluator(chief(), kFormer);
  EXPECT_FALSE(evaluator.GrantsWait());
  PollEvaluatorReply reply = evaluator.Poll(Numbered(Evaluated({1, 9}, 0.5)), {.newest = kNewest});
  EXPECT_FALSE(evaluator.Done(kNewest));
  EXPECT_TRUE(evaluator.metrics().empty());
  EXPECT_EQ(reply.checkpoint(), CheckpointName(kNewest));
  evaluator.Poll(Numbered(Evaluated(kNewest, 0.25)), {.newest = kNewest});
  EXPECT_TRUE(evaluator.Done(kNewest));
  EXPECT_EQ(evaluator.metrics().at("eval_loss"), 0.25);
}

TEST_F(EvaluatorPeerTest, WhenAnEvaluationHasNoMetrics_ThoseOfTheOneBeforeStay) {
  EvaluatorPeer evaluator(chief(), std::nullopt);
  evaluator.Poll(Numbered(Evaluated(kFormer, 0.5)), {.newest = kFormer});
  PollEvaluatorRequest none;
  none.set_checkpoint(CheckpointName(kNewest));
  evaluator.Poll(Numbered(none), {.newest = kNewest});
  EXPECT_TRUE(evaluator.Done(kNewest));
  EXPECT_EQ(evaluator.metrics().at("eval_loss"), 0.5);
}

TEST_F(EvaluatorPeerTest, WhenTheEvaluatorDoesNotCome_ThePinCountsAsKnownAfterThePeerTimeout) {
  const EvaluatorPeer evaluator(chief(), kFormer);
  clock_.Advance(settings_.peer_timeout);
  EXPECT_FALSE(evaluator.PinKnown());
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(evaluator.PinKnown());
}

TEST_F(EvaluatorPeerTest, WhenTheRunEnds_IsToldWithTheNextPoll) {
  EvaluatorPeer evaluator(chief(), std::nullopt);
  EXPECT_FALSE(evaluator.ToldEnd());
  EXPECT_EQ(evaluator.Poll(Numbered({}), {.releasing = true, .finished = true}).directive(),
            FINISH);
  EXPECT_TRUE(evaluator.ToldEnd());
}

TEST_F(EvaluatorPeerTest, WithoutAnEvaluator_NothingIsAwaited) {
  Stop(0.5);
  settings_.spec.mutable_replica_specs()->mutable_evaluator()->set_replicas(0);
  const EvaluatorPeer evaluator(chief(), kFormer);
  EXPECT_FALSE(evaluator.GrantsWait());
  EXPECT_TRUE(evaluator.Done(kFormer));
  EXPECT_TRUE(evaluator.PinKnown());
  EXPECT_TRUE(evaluator.ToldEnd());
}

}  // namespace
}  // namespace pstrain
