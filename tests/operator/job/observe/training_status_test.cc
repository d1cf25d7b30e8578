#include "operator/job/observe/training_status.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain::job {
namespace {

using std::chrono::milliseconds;

ProgressReading Reading(const char* body, int ms) {
  return *ParseProgress(body, plan::Time(milliseconds(ms)), 0);
}

TEST(TrainingStatus, TakesCountsAndScoresByTheJobsNames) {
  const auto reading =
      Reading(R"({"values":{"steps":7,"loss":0.5,"examples_expected":100,"examples_committed":40,
                  "applied_min":38,"applied_max":41,"auc":0.9,"log_loss":0.3}})",
              0);
  const TrainingStatus status = MakeTrainingStatus(reading, nullptr, {});
  EXPECT_EQ(status.step(), 7);
  EXPECT_EQ(status.loss(), 0.5);
  EXPECT_EQ(status.examples_expected(), 100);
  EXPECT_EQ(status.examples_committed(), 40);
  EXPECT_EQ(status.examples_applied_min(), 38);
  EXPECT_EQ(status.examples_applied_max(), 41);
  EXPECT_EQ(status.metrics().at("auc"), 0.9);
  EXPECT_EQ(status.metrics().at("logLoss"), 0.3);
}

TEST(TrainingStatus, SaysInWordsWhatColumnsShow) {
  const auto status_of = [](const char* committed, int ms, const TrainingStatus& former) {
    const ProgressReading before = Reading(R"({"values":{"examples_committed":0}})", 0);
    return MakeTrainingStatus(
        Reading((std::string(R"({"values":{"loss":0.31847264912,"examples_expected":400000,)") +
                 R"("checkpoint_last_success":1769860800,"examples_committed":)" + committed + "}}")
                    .c_str(),
                ms),
        &before, former);
  };
  const TrainingStatus status = status_of("249999", 1000, {});
  EXPECT_EQ(status.progress(), "62%");
  EXPECT_EQ(status.rate(), "250.0k/s");
  EXPECT_EQ(status.loss(), 0.318473);
  EXPECT_EQ(status.last_checkpoint_time(), "2026-01-31T12:00:00Z");
  EXPECT_EQ(status_of("400000", 100, {}).progress(), "100%");
  EXPECT_EQ(status_of("400000", 100, {}).rate(), "4.0M/s");
  EXPECT_EQ(status_of("400", 1000, {}).rate(), "400/s");
  // Neither a chief that has just started, nor a program that counts nothing.
  const TrainingStatus next = MakeTrainingStatus(
      Reading(R"({"values":{"checkpoint_last_success":0}})", 0), nullptr, status);
  EXPECT_EQ(next.last_checkpoint_time(), "2026-01-31T12:00:00Z");
  EXPECT_EQ(next.progress(), "62%");
  EXPECT_EQ(MakeTrainingStatus(Reading(R"({"values":{}})", 0), nullptr, {}).progress(), "");
}

TEST(TrainingStatus, HasTheBestCheckpointAndTheLastEvaluations) {
  const auto reading = Reading(
      R"({"values":{"auc":0.9,"log_loss":0.3,"evaluated_examples":200,"best.log_loss":0.25,
          "best_chief_term":2,"best_number":7,"best_examples":100,"early_stopped":1}})",
      0);
  TrainingStatus status = MakeTrainingStatus(reading, nullptr, {});
  EXPECT_EQ(status.best().checkpoint(), "2-7");
  EXPECT_EQ(status.best().metric(), "logLoss");
  EXPECT_EQ(status.best().value(), 0.25);
  EXPECT_EQ(status.best().examples_committed(), 100);
  EXPECT_TRUE(status.early_stopped());
  ASSERT_EQ(status.history_size(), 1);
  EXPECT_EQ(status.history(0).examples_committed(), 200);
  EXPECT_EQ(status.history(0).metrics().at("logLoss"), 0.3);
  // Seen twice.
  status = MakeTrainingStatus(reading, nullptr, status);
  EXPECT_EQ(status.history_size(), 1);
  // A chief that has just started says nothing yet.
  status = MakeTrainingStatus(Reading(R"({"values":{}})", 0), nullptr, status);
  EXPECT_EQ(status.history_size(), 1);
  EXPECT_EQ(status.best().checkpoint(), "2-7");
  EXPECT_TRUE(status.early_stopped());
}

TEST(TrainingStatus, KeepsTwentyEvaluations) {
  TrainingStatus status;
  for (int i = 1; i <= 25; ++i) {
    const std::string body =
        R"({"values":{"auc":0.5,"evaluated_examples":)" + std::to_string(i) + "}}";
    status = MakeTrainingStatus(Reading(body.c_str(), 0), nullptr, status);
  }
  ASSERT_EQ(status.history_size(), 20);
  EXPECT_EQ(status.history(0).examples_committed(), 6);
  EXPECT_EQ(status.history(19).examples_committed(), 25);
}

TEST(FinalCounts, SayThatTheRunHasEndedEarly) {
  const auto counts = FinalCountsOf(Reading(
      R"({"values":{"examples_expected":20,"examples_committed":20,"applied_min":20,
          "applied_max":20,"early_stopped":1}})",
      0));
  ASSERT_TRUE(counts.has_value());
  EXPECT_TRUE(counts->early_stopped);
}

TEST(TrainingStatus, RateIsThatSinceTheReadingBefore) {
  const auto before = Reading(R"({"values":{"examples_committed":100}})", 1000);
  const auto now = Reading(R"({"values":{"examples_committed":400}})", 3000);
  EXPECT_EQ(MakeTrainingStatus(now, &before, {}).examples_per_second(), 150);
}

TEST(TrainingStatus, KeepsTheRateWhenTheChiefStartedAnew) {
  const auto before = Reading(R"({"values":{"examples_committed":400}})", 1000);
  const auto now = Reading(R"({"values":{"examples_committed":100}})", 3000);
  TrainingStatus former;
  former.set_examples_per_second(7);
  (*former.mutable_metrics())["auc"] = 0.8;
  const TrainingStatus status = MakeTrainingStatus(now, &before, former);
  EXPECT_EQ(status.examples_per_second(), 7);
  EXPECT_EQ(status.metrics().at("auc"), 0.8);
}

TEST(TrainingStatus, WhatANewChiefDoesNotKnowYet_StaysAsItWas) {
  const auto before = Reading(R"({"values":{"examples_committed":400}})", 1000);
  const auto now = Reading(R"({"values":{"examples_expected":900}})", 3000);
  TrainingStatus former;
  former.set_step(4);
  former.set_examples_per_second(7);
  former.set_examples_committed(400);
  former.set_examples_applied_min(380);
  former.set_examples_applied_max(390);
  const TrainingStatus status = MakeTrainingStatus(now, &before, former);
  EXPECT_EQ(status.step(), 4);
  EXPECT_EQ(status.examples_per_second(), 7);
  EXPECT_EQ(status.examples_expected(), 900);
  EXPECT_EQ(status.examples_committed(), 400);
  EXPECT_EQ(status.examples_applied_min(), 380);
  EXPECT_EQ(status.examples_applied_max(), 390);
}

TEST(TrainingStatus, OfAbsurdNumbers_StaysInBounds) {
  const auto before = Reading(R"({"values":{"examples_committed":-1e300}})", 1000);
  const auto now = Reading(R"({"values":{"steps":1e300,"examples_committed":1e300}})", 2000);
  const TrainingStatus status = MakeTrainingStatus(now, &before, {});
  EXPECT_EQ(status.step(), std::int64_t{1} << 53);
  EXPECT_EQ(status.examples_per_second(), 0x1p54);
}

TEST(ReadingFromTermination, OfAForeignProgramsText_IsNothing) {
  EXPECT_FALSE(ReadingFromTermination("bye", {}, 0).has_value());
  EXPECT_FALSE(ReadingFromTermination(R"({"reason":"Error"})", {}, 0).has_value());
  EXPECT_TRUE(ReadingFromTermination(R"({"reason":"Completed","values":{}})", {}, 0).has_value());
}

std::optional<plan::FinalCounts> CountsIn(const std::string& values) {
  const auto reading =
      ReadingFromTermination(R"({"reason": "Completed", "values": )" + values + "}", {}, 0);
  return reading ? FinalCountsOf(*reading) : std::nullopt;
}

TEST(FinalCounts, WhenTheChiefSaysAllOfThem_AreRead) {
  const auto counts = CountsIn(
      R"({"examples_expected": 80, "examples_committed": 79, "applied_min": 7, "applied_max": 8})");
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->expected, 80);
  EXPECT_EQ(counts->committed, 79);
  EXPECT_EQ(counts->applied_min, 7);
  EXPECT_EQ(counts->applied_max, 8);
}

TEST(FinalCounts, WhenSomeAreMissingOrNothingWasCountedYet_AreNotKnown) {
  EXPECT_FALSE(CountsIn(R"({"examples_expected": 80, "examples_committed": 80})").has_value());
  EXPECT_FALSE(
      CountsIn(
          R"({"examples_expected": 0, "examples_committed": 0, "applied_min": 0, "applied_max": 0})")
          .has_value());
}

}  // namespace
}  // namespace pstrain::job
