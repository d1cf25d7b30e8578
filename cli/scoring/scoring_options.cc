#include "cli/scoring/scoring_options.h"

#include <algorithm>
#include <cstdio>

#include "proto/contract/exit_codes.h"

namespace pstrain {

const char* const kScoringUsage =
    "  RUN                the name of a job that was run here, or the folder of a run or of a\n"
    "                     checkpoint\n"
    "  --input FILE       records as spec.training.input describes them, plain or gzip; may be\n"
    "                     repeated; - is standard input\n"
    "  --checkpoint NAME  a checkpoint of the run, <chief term>-<number> (default latest)\n"
    "  --state-dir DIR    where the job was run (default .pstrain)\n";

void AddScoringOptions(ArgumentParser& parser, ScoringOptions& options) {
  parser.AddList("--input", options.inputs);
  parser.AddValue("--checkpoint", options.model.checkpoint);
  parser.AddValue("--state-dir", options.model.state_dir);
  parser.AddFlag("--help", options.help);
  parser.AddFlag("-h", options.help);
}

Status TakeRun(const std::vector<std::string>& rest, ScoringOptions& options) {
  if (rest.empty()) {
    return InvalidArgumentError(
        "no RUN is given: the name of a job that was run here, or a folder");
  }
  if (rest.size() > 1) {
    return InvalidArgumentError("one RUN can be given, not also " + rest[1] +
                                "; files with records follow --input");
  }
  options.model.run = rest.front();
  if (std::ranges::count(options.inputs, "-") > 1) {
    return InvalidArgumentError("--input - is given twice, and standard input has one end");
  }
  return OkStatus();
}

void SayScoring(std::string_view command, const std::string& what) {
  std::fprintf(stderr, "pstrain %s: %s\n", std::string(command).c_str(), what.c_str());
}

int RefuseScoring(std::string_view command, const Status& what, const char* usage) {
  SayScoring(command, what.message());
  std::fputs(usage, stderr);
  return kExitUsage;
}

int FailScoring(std::string_view command, const Status& what) {
  SayScoring(command, what.message());
  return kExitFailure;
}

}  // namespace pstrain
