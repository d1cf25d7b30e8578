#include "operator/job/observe/training_status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/text/utf8.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

/// Key on the chief's stats page -> key of status.training.metrics, which is the job's name of it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMetrics = {{
    {"auc", "auc"},
    {"accuracy", "accuracy"},
    {"log_loss", "logLoss"},
    {"calibration", "calibration"},
}};

std::optional<double> Number(const Json& values, std::string_view key) {
  const Json* value = values.Find(key);
  return value == nullptr ? std::nullopt : value->AsDouble();
}

/// Bounded to what a double counts exactly: a pod may answer any number.
std::optional<std::int64_t> Count(const Json& values, std::string_view key) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  const std::optional<double> number = Number(values, key);
  if (!number) return std::nullopt;
  return std::llround(std::clamp(*number, -kMost, kMost));
}

/// What an agent says of itself, for a person; bounded, as anybody may have said it.
std::string Said(const Json& progress, std::string_view key) {
  constexpr std::size_t kMost = 64;
  const Json* value = progress.Find(key);
  if (value == nullptr) return "nothing";
  return std::string(Utf8Prefix(WriteJson(*value), kMost));
}

Status CheckSource(const Json& progress, const ProgressSource& source) {
  const std::array<std::pair<std::string_view, Json>, 4> asked = {{
      {"run_id", Json::String(source.job_uid)},
      {"role", Json::String(std::string(plan::RoleName(source.replica.role)))},
      {"index", Json::Int(source.replica.index)},
      {"attempt", Json::Int(source.attempt)},
  }};
  for (const auto& [key, value] : asked) {
    if (const Json* said = progress.Find(key); said != nullptr && *said == value) continue;
    return FailedPreconditionError("/progress of another agent: its " + std::string(key) + " is " +
                                   Said(progress, key) + ", asked was " + WriteJson(value));
  }
  return OkStatus();
}

Result<ProgressReading> ReadingOf(const Json& progress, plan::Time at, std::int32_t attempt) {
  const Json* values = progress.Find("values");
  if (values == nullptr || !values->is_object()) {
    return InvalidArgumentError("/progress: the object \"values\" is missing");
  }
  return ProgressReading{.values = *values, .at = at, .attempt = attempt};
}

}  // namespace

Result<ProgressReading> ParseProgress(std::string_view body, plan::Time at,
                                      const ProgressSource& source) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json progress, ParseJson(body));
  PSTRAIN_RETURN_IF_ERROR(CheckSource(progress, source));
  return ReadingOf(progress, at, source.attempt);
}

Result<ProgressReading> ParseProgress(std::string_view body, plan::Time at, std::int32_t attempt) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json progress, ParseJson(body));
  return ReadingOf(progress, at, attempt);
}

std::optional<ProgressReading> ReadingFromTermination(std::string_view message, plan::Time at,
                                                      std::int32_t attempt) {
  Result<ProgressReading> reading = ParseProgress(message, at, attempt);
  if (!reading.ok()) return std::nullopt;
  reading->last = true;
  return std::move(*reading);
}

std::optional<plan::FinalCounts> FinalCountsOf(const ProgressReading& reading) {
  const auto expected = Count(reading.values, "examples_expected");
  const auto committed = Count(reading.values, "examples_committed");
  const auto applied_min = Count(reading.values, "applied_min");
  const auto applied_max = Count(reading.values, "applied_max");
  // Its page begins with zeros.
  if (!committed || !applied_min || !applied_max || expected.value_or(0) <= 0) return std::nullopt;
  return plan::FinalCounts{*expected, *committed, *applied_min, *applied_max,
                           Count(reading.values, "early_stopped").value_or(0) == 1};
}

namespace {

/// How many of them a status has.
constexpr int kMostEvaluations = 20;

/// The metrics that a reading has, by the job's names.
void AddMetrics(const Json& values, google::protobuf::Map<std::string, double>& metrics) {
  for (const auto& [key, name] : kMetrics) {
    if (const auto value = Number(values, key)) metrics[std::string(name)] = *value;
  }
}

/// The chief keeps these between its attempts, so that one which has just started has them too.
void AddEvaluations(const Json& values, const TrainingStatus& former, TrainingStatus& status) {
  *status.mutable_history() = former.history();
  status.set_early_stopped(Count(values, "early_stopped").value_or(former.early_stopped()) == 1);
  if (former.has_best()) *status.mutable_best() = former.best();
  for (const auto& [key, name] : kMetrics) {
    const auto value = Number(values, "best." + std::string(key));
    if (!value) continue;
    BestCheckpoint& best = *status.mutable_best();
    best.set_metric(std::string(name));
    best.set_value(*value);
    best.set_checkpoint(std::to_string(Count(values, "best_chief_term").value_or(0)) + "-" +
                        std::to_string(Count(values, "best_number").value_or(0)));
    best.set_examples_committed(Count(values, "best_examples").value_or(0));
  }
  EvaluationStatus evaluation;
  AddMetrics(values, *evaluation.mutable_metrics());
  const auto examples = Count(values, "evaluated_examples");
  if (!examples || evaluation.metrics().empty()) return;
  evaluation.set_examples_committed(*examples);
  auto& history = *status.mutable_history();
  if (!history.empty() && history.rbegin()->examples_committed() == *examples) {
    history.RemoveLast();
  }
  *history.Add() = std::move(evaluation);
  if (history.size() > kMostEvaluations) {
    history.DeleteSubrange(0, history.size() - kMostEvaluations);
  }
}

/// To six digits: a person reads it in a column of `kubectl get`.
double Rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return std::strtod(text.data(), nullptr);
}

std::string RateText(double per_second) {
  std::array<char, 32> text{};
  if (per_second < 1e3) {
    std::snprintf(text.data(), text.size(), "%.0f/s", per_second);
  } else if (per_second < 1e6) {
    std::snprintf(text.data(), text.size(), "%.1fk/s", per_second / 1e3);
  } else {
    std::snprintf(text.data(), text.size(), "%.1fM/s", per_second / 1e6);
  }
  return text.data();
}

/// What columns of `kubectl get` show.
void SetTexts(TrainingStatus& status) {
  if (status.examples_expected() > 0) {
    const double part = static_cast<double>(status.examples_committed()) /
                        static_cast<double>(status.examples_expected());
    status.set_progress(std::to_string(static_cast<int>(std::clamp(part, 0.0, 1.0) * 100)) + "%");
  }
  if (status.examples_per_second() > 0) status.set_rate(RateText(status.examples_per_second()));
}

std::string LastCheckpointTime(const Json& values, const TrainingStatus& former) {
  const std::int64_t seconds = Count(values, "checkpoint_last_success").value_or(0);
  // A chief that has just started has written none.
  if (seconds <= 0) return former.last_checkpoint_time();
  return plan::FormatTimestamp(plan::Time(std::chrono::seconds(seconds)));
}

}  // namespace

TrainingStatus MakeTrainingStatus(const ProgressReading& reading, const ProgressReading* before,
                                  const TrainingStatus& former) {
  const Json& values = reading.values;
  TrainingStatus status;
  status.set_step(Count(values, "steps").value_or(former.step()));
  status.set_examples_per_second(former.examples_per_second());
  // The time of an end is in whole seconds: a rate over less than a few would be far off.
  const std::chrono::seconds shortest(reading.last ? 2 : 0);
  if (before != nullptr && reading.at - before->at > shortest) {
    const double seconds = std::chrono::duration<double>(reading.at - before->at).count();
    const auto committed = Count(values, "examples_committed");
    const auto committed_before = Count(before->values, "examples_committed");
    // Work ids that a restored shard lacks are taken back, so the count may fall.
    if (committed && committed_before && *committed >= *committed_before) {
      status.set_examples_per_second(static_cast<double>(*committed - *committed_before) / seconds);
    }
  }
  status.set_loss(Rounded(Number(values, "loss").value_or(former.loss())));
  *status.mutable_metrics() = former.metrics();
  AddMetrics(values, *status.mutable_metrics());
  AddEvaluations(values, former, status);
  status.set_examples_expected(
      Count(values, "examples_expected").value_or(former.examples_expected()));
  status.set_examples_committed(
      Count(values, "examples_committed").value_or(former.examples_committed()));
  status.set_examples_applied_min(
      Count(values, "applied_min").value_or(former.examples_applied_min()));
  status.set_examples_applied_max(
      Count(values, "applied_max").value_or(former.examples_applied_max()));
  status.set_last_checkpoint_time(LastCheckpointTime(values, former));
  SetTexts(status);
  return status;
}

}  // namespace pstrain::job
