#include "cli/scoring/scoring_options.h"

#include <algorithm>
#include <cstdio>

#include "local/guard.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {

const char* const kTrainedUsage =
    "  RUN                the name of a job that was run here, a run id, or the folder of a run "
    "or\n"
    "                     of a checkpoint\n"
    "  --checkpoint NAME  best, latest, or a checkpoint of the run, <chief term>-<number> "
    "(default\n"
    "                     best where the run keeps one, else latest)\n"
    "  --state-dir DIR    where the job was run (default .pstrain)\n";
const char* const kScoringUsage =
    "  --input FILE       records as spec.training.input describes them, plain or gzip; may be\n"
    "                     repeated; - is standard input\n";

void AddTrainedOptions(ArgumentParser& parser, TrainedOptions& options) {
  parser.AddValue("--checkpoint", options.model.checkpoint);
  parser.AddValue("--state-dir", options.model.state_dir);
  parser.AddFlag("--help", options.help);
  parser.AddFlag("-h", options.help);
}

void AddScoringOptions(ArgumentParser& parser, ScoringOptions& options) {
  AddTrainedOptions(parser, options);
  parser.AddList("--input", options.inputs);
}

Status TakeTrained(const std::vector<std::string>& rest, std::string_view hint,
                   TrainedOptions& options) {
  if (rest.empty()) {
    return InvalidArgumentError(
        "no RUN is given: the name of a job that was run here, or a folder");
  }
  if (rest.size() > 1) {
    return InvalidArgumentError("one RUN can be given, not also " + rest[1] + "; " +
                                std::string(hint));
  }
  options.model.run = rest.front();
  return OkStatus();
}

Status TakeRun(const std::vector<std::string>& rest, ScoringOptions& options) {
  PSTRAIN_RETURN_IF_ERROR(TakeTrained(rest, "files with records follow --input", options));
  if (std::ranges::count(options.inputs, "-") > 1) {
    return InvalidArgumentError("--input - is given twice, and standard input has one end");
  }
  return OkStatus();
}

namespace {

int RefuseScoring(std::string_view command, const Status& what, const char* usage) {
  SayScoring(command, what.message());
  std::fputs(usage, stderr);
  return kExitUsage;
}

}  // namespace

int RunTrainedCommand(std::string_view command, const std::vector<std::string>& args,
                      const std::string& usage, ArgumentParser& parser,
                      const TrainedOptions& options,
                      const std::function<Status(const std::vector<std::string>& rest)>& check,
                      const std::function<int()>& run) {
  const auto rest = parser.Parse(args);
  if (rest.ok() && options.help) {
    std::fputs(usage.c_str(), stdout);
    return kExitSuccess;
  }
  const Status usable = rest.ok() ? check(*rest) : rest.status();
  if (!usable.ok()) return RefuseScoring(command, usable, usage.c_str());
  return local::RunGuarded(run);
}

void SayScoring(std::string_view command, const std::string& what) {
  std::fprintf(stderr, "pstrain %s: %s\n", std::string(command).c_str(), what.c_str());
}

int FailScoring(std::string_view command, const Status& what) {
  SayScoring(command, what.message());
  return kExitFailure;
}

}  // namespace pstrain
