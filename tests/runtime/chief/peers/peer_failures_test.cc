#include "runtime/chief/peers/peer_failures.h"

#include <gtest/gtest.h>

#include <limits>

namespace pstrain {
namespace {

TEST(PeerFailures, WhenNothingIsSaid_AreOk) {
  EXPECT_TRUE(FailureOf(HeartbeatPsRequest()).ok());
  EXPECT_TRUE(FailureOf(PollWorkerRequest()).ok());
  PollEvaluatorRequest evaluated;
  (*evaluated.mutable_metrics())["auc"] = 0.5;
  EXPECT_TRUE(FailureOf(evaluated).ok());
}

TEST(PeerFailures, WhenAPeerSaysWhy_ItsNameComesFirst) {
  HeartbeatPsRequest ps;
  ps.set_index(1);
  ps.set_failure("variable a is infinite");
  EXPECT_EQ(FailureOf(ps), FailedPreconditionError("ps 1: variable a is infinite"));
  PollWorkerRequest worker;
  worker.set_index(3);
  worker.set_failure("the loss");
  EXPECT_EQ(FailureOf(worker), FailedPreconditionError("worker 3: the loss"));
  PollEvaluatorRequest evaluator;
  evaluator.set_failure("scores");
  EXPECT_EQ(FailureOf(evaluator), FailedPreconditionError("evaluator: scores"));
}

TEST(PeerFailures, WhenAMetricIsNotFinite_NamesItAndTheCheckpoint) {
  PollEvaluatorRequest evaluator;
  evaluator.set_checkpoint("1-3");
  (*evaluator.mutable_metrics())["auc"] = 0.5;
  (*evaluator.mutable_metrics())["eval_loss"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FailureOf(evaluator),
            FailedPreconditionError("evaluator: checkpoint 1-3: eval_loss is inf"));
}

}  // namespace
}  // namespace pstrain
