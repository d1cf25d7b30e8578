#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/scoring/saved_model.h"
#include "cli/scoring/score_writer.h"
#include "cli/scoring/scoring_input.h"
#include "cli/scoring/scoring_options.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/input_kind.h"
#include "runtime/evaluator/checkpoint_scorer.h"

namespace pstrain {
namespace {

constexpr const char* kCommand = "predict";
constexpr std::uint32_t kRecordsPerBatch = 512;

std::string Usage() {
  return std::string(
             "usage: pstrain predict RUN --input FILE [--input FILE]... [options]\n"
             "\n"
             "Prints a line for each record, in the order of the input: the probability that its "
             "label is 1.\n"
             "Labels are not looked at; a header, and a tf.Example, need not have them.\n") +
         kTrainedUsage + kScoringUsage +
         "  --no-label         the files are CSV without a header, and without a label\n"
         "  --output FILE      where the lines go, all or none (default -, standard output)\n"
         "example: pstrain predict adult --input new.csv --output scores.txt\n"
         "exit code: 0 scored, 1 the model or a record cannot be read, 2 wrong usage\n";
}

struct Options : ScoringOptions {
  bool no_label = false;
  std::string output = "-";
};

/// A line of the output stands for a record: none may be left out, whatever the job says of bad
/// records.
Status ScoreAll(CheckpointScorer& scorer, ScoringInput& input, ScoreWriter& out) {
  for (bool first = true;; first = false) {
    PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, input.reader().Next(kRecordsPerBatch));
    if (batch.skipped > 0) {
      // Where the first records cannot be read it is the files that are not what they seem.
      return InvalidArgumentError(
          input.first_bad() + "; correct the record, or " +
          (first ? "give --no-label where the files have no label" : "take it out of the input"));
    }
    if (batch.records == 0) return OkStatus();
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> scores, scorer.Score(batch));
    for (const float score : scores) PSTRAIN_RETURN_IF_ERROR(out.Write(score));
  }
}

Status Predict(const Options& options) {
  PSTRAIN_ASSIGN_OR_RETURN(const SavedModel saved, OpenSavedModel(options.model));
  for (const std::string& warning : saved.warnings) SayScoring(kCommand, warning);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(saved.training));
  Input described = saved.training.input();
  SetFilesOf(described, options.inputs);
  SetBadRecordsOf(described, Input::Skip);
  PSTRAIN_ASSIGN_OR_RETURN(
      ScoringInput input,
      ScoringInput::Open(described, options.no_label ? Labels::kAbsent : Labels::kIgnored,
                         saved.training, *model, "--input"));
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointScorer scorer,
                           CheckpointScorer::Open(saved.checkpoint_directory, *model));
  PSTRAIN_ASSIGN_OR_RETURN(ScoreWriter out, ScoreWriter::Open(options.output));
  PSTRAIN_RETURN_IF_ERROR(ScoreAll(scorer, input, out));
  return out.Finish();
}

int Run(const Options& options) {
  const Status done = Predict(options);
  return done.ok() ? kExitSuccess : FailScoring(kCommand, done);
}

}  // namespace

int PredictCommand(const std::vector<std::string>& args) {
  Options options;
  ArgumentParser parser;
  AddScoringOptions(parser, options);
  parser.AddFlag("--no-label", options.no_label);
  parser.AddValue("--output", options.output);
  const auto check = [&](const std::vector<std::string>& rest) -> Status {
    PSTRAIN_RETURN_IF_ERROR(TakeRun(rest, options));
    if (!options.inputs.empty()) return OkStatus();
    return InvalidArgumentError("no --input is given; --input - is standard input");
  };
  return RunTrainedCommand(kCommand, args, Usage(), parser, options, check,
                           [&] { return Run(options); });
}

}  // namespace pstrain
