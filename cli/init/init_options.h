#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// The command line of `pstrain init`. Values and pure functions; any thread.
struct InitOptions {
  std::string file;
  std::string label;
  /// Of a file without a header; empty: the first line has them.
  std::vector<std::string> columns;
  /// The first line is a header, whatever it looks like.
  bool header = false;
  /// Nothing: found out.
  std::optional<char> delimiter;
  /// Nothing: found out.
  std::optional<std::string> missing;
  /// Labels that count as 1; empty: found out.
  std::vector<std::string> positive;
  std::vector<std::string> ignore;
  /// Columns whose numbers are names of categories.
  std::vector<std::string> categories;
  /// Records that are not trained on; empty: none.
  std::string eval_file;
  /// Empty: that of the file.
  std::string name;
  std::string output = "job.yaml";
  bool force = false;
  bool help = false;
};

/// What --help prints.
extern const char* const kInitUsage;

/// INVALID_ARGUMENT says what is wrong.
Result<InitOptions> ParseInitOptions(const std::vector<std::string>& args);

}  // namespace pstrain
