#include "runtime/chief/disk/score_report.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(AddScores, WhenNothingWasEvaluated_AddsNothing) {
  Json result = Json::Object();
  AddScores({}, result);
  EXPECT_EQ(WriteJson(result), "{}");
}

TEST(AddScores, SaysTheBestTheHistoryAndWhyTheRunEndedEarly) {
  RunEvaluations evaluations;
  ScoredCheckpoint& scored = *evaluations.add_history();
  scored.set_checkpoint("1-2");
  scored.set_examples_committed(200);
  (*scored.mutable_metrics())["log_loss"] = 0.5;
  (*scored.mutable_metrics())["auc"] = 0.75;
  *evaluations.mutable_best() = scored;
  evaluations.set_best_metric("auc");
  EarlyStop& stop = *evaluations.mutable_early_stop();
  stop.set_metric("log_loss");
  stop.set_patience(3);
  stop.set_examples_committed(500);
  Json result = Json::Object();
  AddScores(evaluations, result);
  EXPECT_EQ(WriteJson(result),
            R"({"best":{"metric":"auc","value":0.75,"checkpoint":"1-2","examples_committed":200},)"
            R"("early_stopped":{"reason":"EarlyStopped","metric":"log_loss","patience":3,)"
            R"("min_delta":0.0,"after_examples":500,"best":null},)"
            R"("history":[{"checkpoint":"1-2","examples_committed":200,"auc":0.75,)"
            R"("log_loss":0.5}]})");
}

}  // namespace
}  // namespace pstrain
