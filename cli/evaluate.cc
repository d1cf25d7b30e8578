#include <cstdio>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "cli/commands.h"
#include "cli/scoring/saved_model.h"
#include "cli/scoring/scoring_input.h"
#include "cli/scoring/scoring_options.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/input_kind.h"
#include "runtime/evaluator/checkpoint_evaluation.h"
#include "runtime/evaluator/metric_report.h"

namespace pstrain {
namespace {

constexpr const char* kCommand = "evaluate";

std::string Usage() {
  return std::string(
             "usage: pstrain evaluate RUN [--input FILE]... [options]\n"
             "\n"
             "Scores the records of an input, with their labels, by a checkpoint of a run, and "
             "prints the metrics.\n"
             "Without --input it is spec.training.evaluation.input of a job that was run here.\n") +
         kTrainedUsage + kScoringUsage +
         "  --json             one line of JSON\n"
         "example: pstrain evaluate adult --input adult.test.csv\n"
         "exit code: 0 scored, 1 the model or a record cannot be read, 2 wrong usage\n";
}

struct Options : ScoringOptions {
  bool json = false;
};

/// What is evaluated on, and how the command line calls it.
struct Choice {
  Input input;
  std::string option;
};

Result<Choice> Choose(const Options& options, const SavedModel& model) {
  if (!options.inputs.empty()) {
    Choice choice{model.training.input(), "--input"};
    SetFilesOf(choice.input, options.inputs);
    return choice;
  }
  if (model.evaluation_input)
    return Choice{*model.evaluation_input, "spec.training.evaluation.input"};
  return InvalidArgumentError("no --input is given, and no job that was run here says on what " +
                              options.model.run + " is evaluated");
}

struct Evaluated {
  std::string checkpoint_directory;
  CheckpointScores scores;
};

Result<Evaluated> Evaluate(const Options& options) {
  PSTRAIN_ASSIGN_OR_RETURN(const SavedModel saved, OpenSavedModel(options.model));
  for (const std::string& warning : saved.warnings) SayScoring(kCommand, warning);
  PSTRAIN_ASSIGN_OR_RETURN(const Choice choice, Choose(options, saved));
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(saved.training));
  PSTRAIN_ASSIGN_OR_RETURN(
      ScoringInput input,
      ScoringInput::Open(choice.input, Labels::kRequired, saved.training, *model, choice.option));
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointScores scores,
                           EvaluateCheckpoint(saved.checkpoint_directory, *model, input.reader(),
                                              input.described(), std::stop_token()));
  return Evaluated{saved.checkpoint_directory, scores};
}

/// By their names in a run's result.
std::map<std::string, double> AllMetrics(const MetricValues& values) {
  Evaluation all;
  for (int metric = Evaluation::Metric_MIN; metric <= Evaluation::Metric_MAX; ++metric) {
    if (Evaluation::Metric_IsValid(metric) && metric != Evaluation::METRIC_UNSPECIFIED) {
      all.add_metrics(static_cast<Evaluation::Metric>(metric));
    }
  }
  std::map<std::string, double> metrics = ReportedMetrics(values, all);
  // The result's own name for log_loss, and a count.
  metrics.erase("eval_loss");
  metrics.erase("records");
  return metrics;
}

void PrintJson(const Evaluated& evaluated) {
  Json out = Json::Object();
  out.Set("checkpoint", Json::String(evaluated.checkpoint_directory));
  out.Set("records", Json::Uint(evaluated.scores.metrics.records));
  out.Set("records_skipped", Json::Uint(evaluated.scores.skipped));
  // As in a run's result: null where the records have one class.
  out.Set("auc", Json::Null());
  out.Set("auc_200_thresholds", Json::Null());
  for (const auto& [name, value] : AllMetrics(evaluated.scores.metrics)) {
    out.Set(name, Json::Double(value));
  }
  std::printf("%s\n", WriteJson(out).c_str());
}

void PrintText(const Evaluated& evaluated) {
  const auto line = [](const std::string& name, const std::string& value) {
    std::printf("%-19s %s\n", name.c_str(), value.c_str());
  };
  line("checkpoint", evaluated.checkpoint_directory);
  line("records", std::to_string(evaluated.scores.metrics.records));
  if (evaluated.scores.skipped > 0) {
    line("records_skipped", std::to_string(evaluated.scores.skipped));
  }
  for (const auto& [name, value] : AllMetrics(evaluated.scores.metrics)) {
    line(name, std::to_string(value));
  }
}

int Run(const Options& options) {
  const Result<Evaluated> evaluated = Evaluate(options);
  if (!evaluated.ok()) return FailScoring(kCommand, evaluated.status());
  options.json ? PrintJson(*evaluated) : PrintText(*evaluated);
  return kExitSuccess;
}

}  // namespace

int EvaluateCommand(const std::vector<std::string>& args) {
  Options options;
  ArgumentParser parser;
  AddScoringOptions(parser, options);
  parser.AddFlag("--json", options.json);
  return RunTrainedCommand(
      kCommand, args, Usage(), parser, options,
      [&](const auto& rest) { return TakeRun(rest, options); }, [&] { return Run(options); });
}

}  // namespace pstrain
