#include "cli/arguments.h"

#include <cstddef>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text/edit_distance.h"

namespace pstrain {

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void ArgumentParser::AddFlag(std::string_view name, bool& target) {
  options_.push_back({.name = std::string(name), .flag = &target});
}

void ArgumentParser::AddValue(std::string_view name, std::string& target) {
  options_.push_back({.name = std::string(name), .value = &target});
}

void ArgumentParser::AddList(std::string_view name, std::vector<std::string>& target) {
  options_.push_back({.name = std::string(name), .list = &target});
}

const ArgumentParser::Option* ArgumentParser::Find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

Status ArgumentParser::UnknownOption(std::string_view name) const {
  std::vector<std::string> names;
  names.reserve(options_.size());
  for (const Option& option : options_) names.push_back(option.name);
  const std::string nearest = NearestName(name, names);
  std::string message = "unknown option " + std::string(name);
  if (!nearest.empty()) message += "; did you mean " + nearest + "?";
  return InvalidArgumentError(std::move(message));
}

Result<std::vector<std::string>> ArgumentParser::Parse(const std::vector<std::string>& args) const {
  if (args.size() == 1 && args.front() == kListOptions) {
    for (const Option& option : options_) std::printf("%s\n", option.name.c_str());
    return CancelledError("its options are listed");
  }
  std::vector<std::string> positionals;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& argument = args[i];
    if (argument == "--") {
      positionals.insert(positionals.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         args.end());
      break;
    }
    if (argument.size() < 2 || argument.front() != '-') {
      positionals.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const Option* option = Find(name);
    if (option == nullptr) return UnknownOption(name);
    if (option->list == nullptr && !seen.insert(name).second) {
      return InvalidArgumentError(name + " is given twice");
    }
    if (option->flag != nullptr) {
      if (equals != std::string::npos) return InvalidArgumentError(name + " takes no value");
      *option->flag = true;
      continue;
    }
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (++i < args.size()) {
      value = args[i];
    } else {
      return InvalidArgumentError(name + " needs a value");
    }
    if (option->list != nullptr) {
      option->list->push_back(std::move(value));
    } else {
      *option->value = std::move(value);
    }
  }
  return positionals;
}

}  // namespace pstrain
