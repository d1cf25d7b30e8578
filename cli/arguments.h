#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// A path as a shell completes it, without the slashes at its end. Pure; any thread.
std::string WithoutSlash(std::string path);

/// As the only argument it makes Parse print the names of the options, a line each, for completion
/// in shells.
inline constexpr std::string_view kListOptions = "--list-options";

/// The options of one subcommand: `--name`, `--name VALUE` or `--name=VALUE`, in any order among
/// the other arguments; after `--` nothing is an option. The targets must outlive the call of
/// Parse. Filled and asked by one thread.
class ArgumentParser {
 public:
  /// Presence sets `target`.
  void AddFlag(std::string_view name, bool& target);
  /// Given at most once.
  void AddValue(std::string_view name, std::string& target);
  /// Every occurrence is added.
  void AddList(std::string_view name, std::vector<std::string>& target);

  /// What is not an option. INVALID_ARGUMENT for an unknown option (with the nearest known one), a
  /// missing value, a value for a flag, or one option twice. CANCELLED after kListOptions.
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& args) const;

 private:
  struct Option {
    std::string name;
    bool* flag = nullptr;
    std::string* value = nullptr;
    std::vector<std::string>* list = nullptr;
  };
  const Option* Find(std::string_view name) const;
  Status UnknownOption(std::string_view name) const;

  std::vector<Option> options_;
};

}  // namespace pstrain
