#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/arguments.h"
#include "cli/scoring/saved_model.h"

namespace pstrain {

/// What the commands that use a trained model have in common on their command lines. A value.
struct TrainedOptions {
  ModelName model;
  bool help = false;
};
/// What `pstrain predict` and `pstrain evaluate` have beside. A value.
struct ScoringOptions : TrainedOptions {
  /// "-" is standard input.
  std::vector<std::string> inputs;
};

/// Adds them to a parser, which fills `options` when it parses.
void AddTrainedOptions(ArgumentParser& parser, TrainedOptions& options);
void AddScoringOptions(ArgumentParser& parser, ScoringOptions& options);

/// Takes RUN from what is not an option. INVALID_ARGUMENT: none or several; `hint` is said of the
/// second. Pure; any thread.
Status TakeTrained(const std::vector<std::string>& rest, std::string_view hint,
                   TrainedOptions& options);

/// As TakeTrained. INVALID_ARGUMENT also: standard input twice. Pure; any thread.
Status TakeRun(const std::vector<std::string>& rest, ScoringOptions& options);

/// What their --help says of these options.
extern const char* const kTrainedUsage;
extern const char* const kScoringUsage;

/// What each of these commands does: takes the command line, to which `check` says what is wrong
/// with it (`rest`: what is no option), prints `usage` where it is asked for help, and calls `run`,
/// which returns the exit code. Exceptions of libraries end here.
int RunTrainedCommand(std::string_view command, const std::vector<std::string>& args,
                      const std::string& usage, ArgumentParser& parser,
                      const TrainedOptions& options,
                      const std::function<Status(const std::vector<std::string>& rest)>& check,
                      const std::function<int()>& run);

/// Writes "pstrain COMMAND: WHAT" to standard error.
void SayScoring(std::string_view command, const std::string& what);
/// The same of an error; returns kExitFailure.
int FailScoring(std::string_view command, const Status& what);

}  // namespace pstrain
