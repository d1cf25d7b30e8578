#include "local/run_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/os/files.h"
#include "local/view/number_text.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/run/final_counts.h"
#include "proto/contract/run_files.h"

namespace pstrain::local {
namespace {

using plan::Role;

/// Of a stat over all attempts of a role, or of one replica.
double Sum(const RunOutcome& outcome, Role role, std::int32_t index, std::string_view key) {
  double sum = 0;
  for (const auto& [id, reading] : outcome.readings) {
    if (id.replica.role == role && (index < 0 || id.replica.index == index))
      sum += reading.Value(key);
  }
  return sum;
}

constexpr std::int32_t kAllIndexes = -1;

/// The newest attempt's, 0 when there is none.
double Last(const RunOutcome& outcome, Role role, std::int32_t index, std::string_view key) {
  double last = 0;
  for (const auto& [id, reading] : outcome.readings) {
    if (id.replica == plan::ReplicaId{role, index} && reading.values.contains(key)) {
      last = reading.Value(key);
    }
  }
  return last;
}

Json Count(double value) { return Json::Int(static_cast<std::int64_t>(std::llround(value))); }

/// Of seconds and rates, and of metrics: more would be noise of the arithmetic.
constexpr int kSecondsDecimals = 3;
constexpr int kMetricDecimals = 9;

Json Round(double value, int decimals) { return Json::Double(Rounded(value, decimals)); }

/// A number of the chief's result as the report has it: integers stay.
Json Reported(const Json& value) {
  return value.kind() == Json::Kind::kDouble ? Round(*value.AsDouble(), kMetricDecimals) : value;
}

/// A member of the chief's result, else what its stats page last said, else null.
Json Outcome(const RunOutcome& outcome, std::string_view key, bool is_count) {
  if (const Json* value = outcome.result.Find(key)) return Reported(*value);
  for (const auto& [id, reading] : outcome.readings) {
    if (id.replica.role != Role::kChief || !reading.values.contains(key)) continue;
    const double value = Last(outcome, Role::kChief, 0, key);
    return is_count ? Count(value) : Round(value, kMetricDecimals);
  }
  return Json::Null();
}

Json Kills(const RunOutcome& outcome) {
  Json kills = Json::Array();
  for (const KillRecord& record : outcome.kills) {
    if (!record.fired) continue;
    Json kill = Json::Object();
    kill.Set("role", Json::String(std::string(plan::RoleName(record.kill.target.role))));
    kill.Set("index", Json::Int(record.kill.target.index));
    kill.Set("at_examples", Json::Int(record.at_examples));
    kill.Set("first_step_after_s", record.first_step_after_s
                                       ? Round(*record.first_step_after_s, kSecondsDecimals)
                                       : Json::Null());
    kills.Append(std::move(kill));
  }
  return kills;
}

Json PsRows(const RunOutcome& outcome, const JobSpec& spec) {
  Json rows = Json::Array();
  for (std::int32_t i = 0; i < plan::DesiredReplicas(spec, Role::kPs); ++i) {
    Json row = Json::Object();
    row.Set("shards", Count(Last(outcome, Role::kPs, i, "shards")));
    row.Set("bytes_received", Count(Sum(outcome, Role::kPs, i, "bytes_received")));
    row.Set("bytes_sent", Count(Sum(outcome, Role::kPs, i, "bytes_sent")));
    rows.Append(std::move(row));
  }
  return rows;
}

Json WorkerRows(const RunOutcome& outcome, const JobSpec& spec) {
  Json rows = Json::Array();
  for (std::int32_t i = 0; i < plan::DesiredReplicas(spec, Role::kWorker); ++i) {
    Json row = Json::Object();
    row.Set("examples", Count(Sum(outcome, Role::kWorker, i, "examples")));
    rows.Append(std::move(row));
  }
  return rows;
}

/// In a resumed run the committed examples are those of earlier parts too.
double ExamplesOfThisPart(const RunOutcome& outcome, const Json& committed) {
  const double examples = Sum(outcome, Role::kWorker, kAllIndexes, "examples");
  return outcome.resumed ? examples : committed.AsDouble().value_or(examples);
}

}  // namespace

Json MakeRunReport(const RunOutcome& outcome, const JobSpec& spec) {
  Json report = Json::Object();
  report.Set("job", Json::String(outcome.job));
  report.Set("state", Json::String(outcome.state));
  for (const std::string_view key : {"auc", "accuracy"}) {
    report.Set(key, Outcome(outcome, key, false));
  }
  for (const std::string_view key :
       {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
    report.Set(key, Outcome(outcome, key, true));
  }
  report.Set("records_skipped", Outcome(outcome, "records_skipped", true));
  if (!outcome.skipped.empty()) {
    Json examples = Json::Array();
    for (const std::string& what : outcome.skipped) examples.Append(Json::String(what));
    report.Set("bad_records", std::move(examples));
  }
  report.Set("records_non_finite", Outcome(outcome, "records_non_finite", true));
  report.Set("batches_reopened",
             Count(Sum(outcome, Role::kChief, kAllIndexes, "batches_reopened")));
  report.Set("duplicates_refused",
             Count(Sum(outcome, Role::kPs, kAllIndexes, "duplicates_refused")));
  report.Set("steps", Count(Sum(outcome, Role::kWorker, kAllIndexes, "steps")));
  report.Set("checkpoints", Outcome(outcome, "checkpoints", true));
  report.Set("seconds", Round(outcome.seconds, kSecondsDecimals));
  const Json* committed = report.Find("examples_committed");
  const double rate =
      outcome.seconds > 0 ? ExamplesOfThisPart(outcome, *committed) / outcome.seconds : 0;
  report.Set("examples_per_second", Round(rate, 1));
  report.Set("kills", Kills(outcome));
  report.Set("ps", PsRows(outcome, spec));
  report.Set("workers", WorkerRows(outcome, spec));
  for (const std::string_view key :
       {"log_loss", "calibration", "eval_loss", "restored_eval_loss", kResultUpdatesLost,
        kResultMetrics, kResultBest, kResultEarlyStopped, kResultHistory}) {
    if (const Json* value = outcome.result.Find(key)) report.Set(key, Reported(*value));
  }
  report.Set("run_id", Json::String(outcome.run_id));
  if (outcome.reason.empty() && report.Find(kResultEarlyStopped) != nullptr) {
    report.Set("reason", Json::String(kEarlyStopped));
  }
  if (!outcome.reason.empty()) {
    report.Set("reason", Json::String(outcome.reason));
    report.Set("error", Json::String(outcome.reason));
  }
  return report;
}

std::string RunDirectory(const PSTrainingJob& job, std::string_view run_id) {
  return JoinPath(CheckpointOf(job.spec()).directory(), run_id);
}

Result<Json> ReadRunResult(const PSTrainingJob& job, std::string_view run_id, bool stopped) {
  if (!UsesRuntime(job.spec())) return Json::Null();
  const std::string file =
      JoinPath(RunDirectory(job, run_id), stopped ? kRunStoppedFile : kRunResultFile);
  if (!FileExists(file)) return Json::Null();
  PSTRAIN_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Json> result = ParseJson(text);
  if (!result.ok()) return result.status().WithContext(file);
  return result;
}

std::vector<std::string> SkippedRecords(const PSTrainingJob& job, std::string_view run_id) {
  constexpr std::size_t kExamples = 3;
  std::vector<std::string> examples;
  if (!job.spec().has_training()) return examples;
  const std::string folder = JoinPath(RunDirectory(job, run_id), kRunBadRecordsFolder);
  const Result<std::vector<std::string>> files = ListDirectory(folder);
  for (const std::string& file : files.ok() ? *files : std::vector<std::string>()) {
    const Result<std::string> text = ReadFile(JoinPath(folder, file));
    const Result<Json> list = text.ok() ? ParseJson(*text) : Result<Json>(text.status());
    if (!list.ok() || !list->is_array()) continue;
    for (const Json& one : list->items()) {
      if (one.AsString() != nullptr) examples.push_back(*one.AsString());
    }
  }
  std::sort(examples.begin(), examples.end());
  examples.erase(std::unique(examples.begin(), examples.end()), examples.end());
  if (examples.size() > kExamples) examples.resize(kExamples);
  return examples;
}

Status CheckRunResult(const Json& result) {
  PSTRAIN_RETURN_IF_ERROR(ProvenCountsIn(result).status());
  const Json* not_finite = result.Find(kResultNotFinite);
  if (not_finite == nullptr) return OkStatus();
  return DataLossError(std::string(kRunResultFile) +
                       ": these metrics are not finite: " + WriteJson(*not_finite));
}

}  // namespace pstrain::local
