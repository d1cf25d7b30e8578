#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/cluster/connect.h"

namespace pstrain::cluster {

/// The options of the commands that ask a cluster, beside those that say which cluster.
enum class Option : std::uint8_t {
  kJson,
  kTimeout,
  kRole,
  kIndex,
  kMerge,
  kPrevious,
  kFollow,
  kTimestamps,
  kTail,
  kSince,
  kFile,
};

/// What a subcommand is called and takes. Its parser and its --help are made of it. A constant; any
/// thread.
struct Shape {
  std::string_view name;     // "logs"
  std::string_view usage;    // "JOB [options]", without its options
  std::string_view about;    // one sentence
  std::string_view example;  // a whole line
  std::size_t fewest = 0;    // names
  std::size_t most = 0;
  std::string_view verb = {};  // what the first name must be; empty: any
  std::vector<Option> options = {};
};

/// The arguments of one call, checked: numbers are numbers, roles are roles. A value.
struct Given {
  std::vector<std::string> names;
  std::map<Option, std::string> values;
  std::map<Option, bool> flags;
  bool help = false;
  Target target;

  bool Has(Option option) const { return flags.contains(option) && flags.at(option); }
  /// Empty when it was not given.
  std::string Text(Option option) const;
  std::optional<std::int64_t> Number(Option option) const;
  std::optional<std::chrono::seconds> Duration(Option option) const;
};

/// INVALID_ARGUMENT says what is wrong with which option. Pure; any thread.
Result<Given> ParseGiven(const Shape& shape, const std::vector<std::string>& args);

/// What --help prints. Pure; any thread.
std::string HelpText(const Shape& shape);

/// "90", "90s", "10m" or "2h"; nothing for another text. Pure; any thread.
std::optional<std::chrono::seconds> ParseWait(std::string_view text);

}  // namespace pstrain::cluster
