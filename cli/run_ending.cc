#include "cli/run_ending.h"

#include <cstdio>
#include <utility>

#include "base/os/files.h"
#include "base/text/json.h"
#include "local/history/history_point.h"
#include "local/progress_view.h"
#include "local/view/run_summary.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/replica_specs.h"

namespace pstrain {
namespace {

constexpr std::size_t kLogLinesShown = 15;

void PrintLogEnd(const std::string& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return;
  std::size_t begin = text->size();
  for (std::size_t lines = 0; begin > 0; --begin) {
    if ((*text)[begin - 1] == '\n' && begin != text->size() && ++lines == kLogLinesShown) break;
  }
  std::fprintf(stderr, "--- the last lines of %s\n%s", file.c_str(), text->c_str() + begin);
}

/// The report of a run that has none: with --json there is one line, whatever happens.
void PrintError(const RunOptions& options, const std::string& error) {
  if (!options.json) return;
  Json report = Json::Object();
  report.Set("state", Json::String("Failed"));
  report.Set("error", Json::String(error));
  std::printf("%s\n", WriteJson(report).c_str());
  std::fflush(stdout);
}

int ExitCodeOf(local::SessionEnd end, bool all_kills_fired) {
  if (end == local::SessionEnd::kFailed || end == local::SessionEnd::kAborted) return kExitFailure;
  return all_kills_fired ? kExitSuccess : kExitKillNotFired;
}

/// Why the job failed; empty when it did not. Not only the chief says that a run is complete: its
/// result is checked again.
std::string ErrorOf(const EndedRun& run, const local::RunOutcome& outcome) {
  switch (run.end) {
    case local::SessionEnd::kFailed:
      return run.job.FailureText();
    case local::SessionEnd::kAborted:
      return "killed by a signal";
    case local::SessionEnd::kStopped:
      return {};
    case local::SessionEnd::kSucceeded:
      break;
  }
  if (!UsesRuntime(run.spec)) return {};
  const Status proven = local::CheckRunResult(outcome.result);
  return proven.ok() ? std::string()
                     : "ResultNotProven: " + proven.message() + "; do not use the result";
}

/// A table for a file has room.
std::size_t Columns() {
  constexpr std::size_t kOfFiles = 100;
  return local::IsTerminal(stdout) ? local::TerminalColumns(stdout) : kOfFiles;
}

/// The newest checkpoint as the commands below take it; empty when there is none.
std::string CheckpointOf(const EndedRun& run, const local::RunOutcome& outcome) {
  const Json* name = outcome.result.Find("checkpoint");
  if (!UsesRuntime(run.spec) || name == nullptr || name->AsString() == nullptr) return {};
  const std::string runs = JoinPath(pstrain::CheckpointOf(run.spec).directory(), outcome.run_id);
  return JoinPath(JoinPath(runs, "checkpoints"), *name->AsString());
}

local::SummaryFacts FactsOf(const EndedRun& run, const local::RunOutcome& outcome) {
  local::SummaryFacts facts;
  const local::RunHistory& history = run.recorder.history();
  for (const std::string_view name : local::kEvaluationMetrics) {
    local::MetricSummary metric;
    metric.name = name;
    metric.last = history.Last(name);
    if (const auto best = history.Best(name)) {
      metric.best = best->first;
      metric.best_epoch = best->second.epoch;
    }
    facts.metrics.push_back(std::move(metric));
  }
  facts.metrics.push_back({"loss", history.loss(), std::nullopt, 0});
  facts.ends = run.recorder.ends();
  facts.checkpoint = CheckpointOf(run, outcome);
  const std::string state = run.options.state_dir == RunOptions().state_dir
                                ? ""
                                : " --state-dir " + run.options.state_dir;
  if (run.end == local::SessionEnd::kSucceeded && run.spec.has_training()) {
    if (run.spec.training().has_evaluation()) {
      facts.next.push_back("pstrain evaluate " + outcome.job + state);
    }
    facts.next.push_back("pstrain predict " + outcome.job + " --input FILE" + state);
  }
  facts.next.push_back("pstrain report " + outcome.job + " -o report.html" + state);
  return facts;
}

/// Not everything was trained on: nobody is to find that out by the model.
void WarnOfSkipped(const Json& report, const std::vector<std::string>& examples) {
  const Json* skipped = report.Find("records_skipped");
  const double count = skipped == nullptr ? 0 : skipped->AsDouble().value_or(0);
  if (count <= 0) return;
  const Json* committed = report.Find("examples_committed");
  const double examples_seen = committed == nullptr ? 0 : committed->AsDouble().value_or(0);
  constexpr double kPercent = 100.0;
  std::fprintf(stderr, "warning: %.0f bad records were left out (badRecords: Skip)", count);
  if (examples_seen > 0) {
    std::fprintf(stderr, ", %.2g %% of what was read", count * kPercent / examples_seen);
  }
  std::fprintf(stderr, "%s\n", examples.empty() ? "" : "; for instance");
  for (const std::string& example : examples) std::fprintf(stderr, "  %s\n", example.c_str());
}

}  // namespace

int RefuseRun(const RunOptions& options, const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  PrintError(options, text);
  return kExitUsage;
}

int RefuseUsage(const RunOptions& options, const Status& status) {
  return RefuseRun(options, "pstrain run: " + status.message() + " (see pstrain run --help)");
}

int FailRun(const RunOptions& options, const Status& status) {
  std::fprintf(stderr, "pstrain run: %s\n", status.message().c_str());
  PrintError(options, status.message());
  return kExitFailure;
}

std::string StateName(local::SessionEnd end) {
  switch (end) {
    case local::SessionEnd::kSucceeded:
      return "Succeeded";
    case local::SessionEnd::kStopped:
      return "Stopped";
    case local::SessionEnd::kFailed:
    case local::SessionEnd::kAborted:
      break;
  }
  return "Failed";
}

bool RemovesLogs(const JobSpec& spec) {
  return spec.run_policy().clean_pod_policy() == RunPolicy::All;
}

void ShowLogs(const EndedRun& run) {
  if (run.end != local::SessionEnd::kFailed) return;
  constexpr std::size_t kLogsShown = 2;
  const auto& crashed = run.job.crashed();
  const std::size_t first = crashed.size() > kLogsShown ? crashed.size() - kLogsShown : 0;
  // Who says why no attempt can succeed has said it all.
  for (std::size_t i = first; i < crashed.size() && !run.job.FailedForGood(); ++i) {
    PrintLogEnd(run.workspace.LogFile(crashed[i].replica, crashed[i].attempt));
  }
  if (!RemovesLogs(run.spec)) {
    std::fprintf(stderr, "all logs are in %s\n", run.workspace.File("logs").c_str());
  }
}

int TellEnd(const EndedRun& run, local::RunOutcome outcome) {
  const std::string error = ErrorOf(run, outcome);
  if (!error.empty()) {
    outcome.state = StateName(local::SessionEnd::kFailed);
    outcome.reason = error;
  }
  // The same command would meet the same end.
  if (run.end != local::SessionEnd::kSucceeded && !run.job.FailedForGood()) {
    std::fprintf(stderr, "to continue: %s\n", ResumeCommand(run.options).c_str());
  }
  const Json report = local::MakeRunReport(outcome, run.spec);
  WarnOfSkipped(report, outcome.skipped);
  const Status kept = run.recorder.Keep(report);
  const Status written = kept.ok() ? run.recorder.Problem() : kept;
  if (!written.ok()) {
    std::fprintf(stderr, "warning: the course of the run is incomplete: %s\n",
                 written.message().c_str());
  }
  std::printf("%s", run.options.json
                        ? (WriteJson(report) + "\n").c_str()
                        : local::RunSummary(report, FactsOf(run, outcome), Columns()).c_str());
  std::fflush(stdout);
  if (!run.all_kills_fired) {
    std::fprintf(stderr, "pstrain run: a kill of --chaos did not fire before the last commit\n");
  }
  if (error.empty()) return ExitCodeOf(run.end, run.all_kills_fired);
  std::fprintf(stderr, "job failed: %s\n", error.c_str());
  return kExitFailure;
}

}  // namespace pstrain
