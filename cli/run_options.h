#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// The command line of `pstrain run`. Values and pure functions; any thread.
struct RunOptions {
  std::string manifest;
  std::vector<std::string> sets;
  std::vector<std::string> volumes;
  std::string state_dir = ".pstrain";
  std::string stop_at;
  std::string chaos;
  /// A CSV file for the course of the run; empty: none.
  std::string history;
  /// A directory for TensorBoard; empty: none.
  std::string tensorboard;
  bool resume = false;
  bool json = false;
  bool allow_test_only = false;
  bool help = false;
};

/// What --help prints.
extern const char* const kRunUsage;

/// INVALID_ARGUMENT says what is wrong.
Result<RunOptions> ParseRunOptions(const std::vector<std::string>& args);

/// Of `NAME=DIR` texts. INVALID_ARGUMENT for another form.
Result<std::map<std::string, std::string>> ParseVolumes(const std::vector<std::string>& texts);

/// Of --stop-at; nothing for an empty text. INVALID_ARGUMENT unless it is a number from 0 to 100.
Result<std::optional<double>> ParsePercent(const std::string& text);

/// The command that continues this run, for a shell.
std::string ResumeCommand(const RunOptions& options);

}  // namespace pstrain
