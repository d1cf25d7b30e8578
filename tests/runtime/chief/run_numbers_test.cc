#include "runtime/chief/run_numbers.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "base/text/json.h"

namespace pstrain {
namespace {

TEST(RunNumbers, WhenStoppedBeforeTheFirstScore_TheResultSaysNull) {
  RunNumbers numbers;
  numbers.progress.examples_expected = 70;
  numbers.progress.examples_committed = 30;
  const Result<Json> json = ParseJson(ResultJson(numbers));
  ASSERT_TRUE(json.ok());
  EXPECT_TRUE(json->Find("auc")->is_null());
  EXPECT_TRUE(json->Find("checkpoint")->is_null());
  EXPECT_EQ(json->Find("examples_committed")->AsDouble(), 30);
  EXPECT_EQ(json->Find("applied_min"), nullptr);
}

TEST(RunNumbers, WhenFinal_TheResultCountsWhatTheCheckpointHolds) {
  RunNumbers numbers;
  numbers.progress.examples_committed = 30;
  numbers.final_examples = 70;
  numbers.applied = {.lowest = 70, .highest = 71, .skipped = 2, .non_finite = 3};
  numbers.newest_checkpoint = CheckpointId{3, 4};
  numbers.metrics["auc"] = 0.75;
  const Result<Json> json = ParseJson(ResultJson(numbers));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->Find("auc")->AsDouble(), 0.75);
  EXPECT_EQ(json->Find("examples_committed")->AsDouble(), 70);
  EXPECT_EQ(json->Find("applied_max")->AsDouble(), 71);
  EXPECT_EQ(json->Find("records_skipped")->AsDouble(), 2);
  EXPECT_EQ(json->Find("records_non_finite")->AsDouble(), 3);
}

TEST(RunNumbers, OfAProgram_TheResultSaysHowManyUpdatesWereLost) {
  RunNumbers numbers;
  EXPECT_EQ(ParseJson(ResultJson(numbers))->Find("updates_lost_in_repair"), nullptr);
  numbers.updates_lost = 0;
  EXPECT_EQ(ParseJson(ResultJson(numbers))->Find("updates_lost_in_repair")->AsDouble(), 0);
  numbers.updates_lost = 3;
  EXPECT_EQ(ParseJson(ResultJson(numbers))->Find("updates_lost_in_repair")->AsDouble(), 3);
}

TEST(RunNumbers, OfAProgram_TheResultHasWhatItsEvaluatorFound) {
  RunNumbers numbers;
  EXPECT_EQ(ParseJson(ResultJson(numbers))->Find("metrics"), nullptr);
  numbers.metrics = {{"accuracy", 0.75}, {"top 5", 0.5}};
  const Result<Json> json = ParseJson(ResultJson(numbers));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->Find("accuracy")->AsDouble(), 0.75);
  ASSERT_NE(json->Find("metrics"), nullptr);
  EXPECT_EQ(json->Find("metrics")->Find("top 5")->AsDouble(), 0.5);
  // Built-in training has names of its own.
  numbers.evaluation = 1;
  EXPECT_EQ(ParseJson(ResultJson(numbers))->Find("metrics"), nullptr);
}

TEST(RunNumbers, WhatAFormerChiefHasProven_IsOnTheStatsPage) {
  const std::unique_ptr<StatsWriter> writer = StatsWriter::InMemory();
  ChiefStats stats(*writer);
  PublishFinished({.expected = 80, .committed = 81, .applied_min = 79, .applied_max = 82}, stats);
  EXPECT_EQ(stats.examples_expected->Value(), 80);
  EXPECT_EQ(stats.examples_committed->Value(), 81);
  EXPECT_EQ(stats.applied_min->Value(), 79);
  EXPECT_EQ(stats.applied_max->Value(), 82);
}

TEST(RunNumbers, HowLongSomebodyIsWaitedFor_IsOnTheStatsPage) {
  const std::unique_ptr<StatsWriter> writer = StatsWriter::InMemory();
  ChiefStats stats(*writer);
  NumbersPublisher publisher(stats);
  RunNumbers numbers;
  numbers.waiting = std::chrono::milliseconds(7500);
  publisher.Publish(numbers);
  EXPECT_EQ(stats.waiting->Value(), 7.5);
}

TEST(RunNumbers, CountsOfAManifest_AreThoseOfItsExtremes) {
  CheckpointManifest manifest;
  for (const std::int64_t examples : {40, 20, 30}) {
    CheckpointShard* shard = manifest.add_checkpoint_shards();
    shard->set_examples_applied(examples);
    shard->set_records_skipped(examples / 10);
    shard->set_records_non_finite(examples / 5);
  }
  const AppliedCounts counts = CountsOf(manifest);
  EXPECT_EQ(counts.lowest, 20);
  EXPECT_EQ(counts.highest, 40);
  EXPECT_EQ(counts.skipped, 2);
  EXPECT_EQ(counts.non_finite, 8);
}

TEST(RunNumbers, WhatLostPsHaveCost_IsInTheResultAndOnTheStatsPage) {
  const std::unique_ptr<StatsWriter> writer = StatsWriter::InMemory();
  ChiefStats stats(*writer);
  NumbersPublisher publisher(stats);
  RunNumbers numbers;
  for (const std::uint64_t reopened : {0U, 5U, 7U}) {
    numbers.progress.work_ids_reopened = reopened;
    numbers.batches_reopened = 3 + reopened;
    publisher.Publish(numbers);
    EXPECT_EQ(stats.batches_reopened->Value(), reopened);
    const Result<Json> json = ParseJson(ResultJson(numbers));
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(json->Find("batches_reopened")->AsDouble(), static_cast<double>(3 + reopened))
        << "those of former chiefs too";
  }
}

TEST(NumbersPublisher, UntilAllShardsWereActive_CommittedStaysAsItWas) {
  const std::unique_ptr<StatsWriter> writer = StatsWriter::InMemory();
  ChiefStats stats(*writer);
  NumbersPublisher publisher(stats);
  stats.examples_committed->Set(50);
  RunNumbers numbers;
  numbers.batches_per_epoch = 4;
  publisher.Publish(numbers);
  EXPECT_EQ(stats.examples_committed->Value(), 50);
  numbers.all_active = true;
  numbers.progress.examples_committed = 60;
  numbers.progress.work_ids_committed = 9;
  publisher.Publish(numbers);
  EXPECT_EQ(stats.examples_committed->Value(), 60);
  EXPECT_EQ(stats.epoch->Value(), 2);
  // A shard that is being restored: progress does not fall back to unknown.
  numbers.all_active = false;
  numbers.progress.examples_committed = 40;
  publisher.Publish(numbers);
  EXPECT_EQ(stats.examples_committed->Value(), 40);
  EXPECT_TRUE(std::isnan(stats.loss->Value()));
}

TEST(ResultJson, WhenAMetricIsNotFinite_NamesIt) {
  RunNumbers numbers;
  numbers.metrics = {{"auc", 0.5}};
  EXPECT_EQ(ResultJson(numbers).find("not_finite"), std::string::npos);
  numbers.metrics["log_loss"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(ResultJson(numbers).find(R"("not_finite":["log_loss"])"), std::string::npos);
}

TEST(RunNumbers, ErrnoOf_FindsWhatErrnoErrorWroteOnAPs) {
  for (const int error_number : {EIO, ENOSPC, EACCES, ESTALE, EDQUOT}) {
    const Status told(StatusCode::kInternal, "ps 1: " + ErrnoError(error_number, "x").message());
    EXPECT_EQ(ErrnoOf(told), error_number);
  }
  EXPECT_EQ(ErrnoOf(OkStatus()), 0);
  EXPECT_EQ(ErrnoOf(InternalError("no memory")), 0);
}

TEST(NumbersPublisher, WhenCheckpointsFail_SaysForHowLongAndWhy) {
  const std::unique_ptr<StatsWriter> writer = StatsWriter::InMemory();
  ChiefStats stats(*writer);
  NumbersPublisher publisher(stats);
  RunNumbers numbers;
  numbers.checkpoint_problem = {.age = std::chrono::seconds(90),
                                .failing = std::chrono::seconds(60),
                                .error = ErrnoError(ENOSPC, "write x")};
  publisher.Publish(numbers);
  EXPECT_EQ(stats.checkpoint_age->Value(), 90);
  EXPECT_EQ(stats.checkpoint_failing->Value(), 60);
  EXPECT_EQ(stats.checkpoint_error->Value(), ENOSPC);
}

TEST(NumbersPublisher, TheBestCheckpointAndAnEarlyStop_AreOnTheStatsPage) {
  const auto writer = StatsWriter::InMemory();
  ChiefStats stats(*writer);
  NumbersPublisher publisher(stats);
  RunNumbers numbers;
  RunEvaluations evaluations;
  ScoredCheckpoint& scored = *evaluations.add_history();
  scored.set_checkpoint("2-7");
  scored.set_examples_committed(300);
  (*scored.mutable_metrics())["log_loss"] = 0.25;
  *evaluations.mutable_best() = scored;
  evaluations.set_best_metric("log_loss");
  numbers.evaluations = std::make_shared<const RunEvaluations>(evaluations);
  publisher.Publish(numbers);
  EXPECT_EQ(stats.best.at("log_loss")->Value(), 0.25);
  EXPECT_TRUE(std::isnan(stats.best.at("auc")->Value()));
  EXPECT_EQ(stats.best_chief_term->Value(), 2);
  EXPECT_EQ(stats.best_number->Value(), 7);
  EXPECT_EQ(stats.best_examples->Value(), 300);
  EXPECT_EQ(stats.evaluated_examples->Value(), 300);
  EXPECT_EQ(stats.early_stopped->Value(), 0);
  evaluations.mutable_early_stop();
  numbers.evaluations = std::make_shared<const RunEvaluations>(evaluations);
  publisher.Publish(numbers);
  EXPECT_EQ(stats.early_stopped->Value(), 1);
}

}  // namespace
}  // namespace pstrain
