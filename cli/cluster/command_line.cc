#include "cli/cluster/command_line.h"

#include <algorithm>

#include "base/text/parse_number.h"
#include "cli/arguments.h"
#include "proto/contract/roles.h"

namespace pstrain::cluster {
namespace {

enum class Takes : std::uint8_t { kNothing, kJsonWord, kDuration, kNumber, kRole, kText };

struct OptionWords {
  Option option;
  std::string_view name;
  std::string_view value;
  Takes takes;
  std::string_view about;
};

constexpr std::array kOptions = {
    OptionWords{Option::kJson, "-o", "json", Takes::kJsonWord,
                "the objects as the apiserver has them"},
    OptionWords{Option::kTimeout, "--timeout", "10m", Takes::kDuration,
                "how long to wait at most: 90, 90s, 10m or 2h"},
    OptionWords{Option::kRole, "--role", "ROLE", Takes::kRole,
                "of this role only: chief, ps, worker or evaluator"},
    OptionWords{Option::kIndex, "--index", "N", Takes::kNumber, "of this replica of the role only"},
    OptionWords{Option::kMerge, "--merge", "", Takes::kNothing,
                "all replicas in the order of the lines' time stamps"},
    OptionWords{Option::kPrevious, "--previous", "", Takes::kNothing,
                "of the attempt before the newest"},
    OptionWords{Option::kFollow, "--follow", "", Takes::kNothing,
                "go on with what is written from now on"},
    OptionWords{Option::kTimestamps, "--timestamps", "", Takes::kNothing,
                "keep the time stamp of each line"},
    OptionWords{Option::kTail, "--tail", "N", Takes::kNumber, "the last N lines of each replica"},
    OptionWords{Option::kSince, "--since", "D", Takes::kDuration,
                "the lines of the last D: 90, 90s, 10m or 2h"},
    OptionWords{Option::kFile, "-o", "FILE.tar", Takes::kText,
                "where to write; default: pstrain-JOB-TIME.tar in this folder"},
};

struct TargetWords {
  std::string_view name;
  std::string_view about;
};
constexpr std::array kTargetOptions = {
    TargetWords{"--kubeconfig FILE",
                "default: KUBECONFIG, else ~/.kube/config, else the pod's own"},
    TargetWords{"--context NAME", "default: its current-context"},
    TargetWords{"-n, --namespace NAME", "default: that of the context"},
};

const OptionWords& WordsOf(Option option) {
  return *std::ranges::find(kOptions, option, &OptionWords::option);
}

Status Check(const OptionWords& words, const std::string& value) {
  const auto refuse = [&](const std::string& reason) {
    return InvalidArgumentError(std::string(words.name) + " " + value + ": must be " + reason);
  };
  switch (words.takes) {
    case Takes::kJsonWord:
      if (value != "json") return refuse("json");
      break;
    case Takes::kDuration:
      if (!ParseWait(value)) return refuse("a number of seconds, or as 90s, 10m, 2h");
      break;
    case Takes::kNumber:
      if (ParseNumber<std::int32_t>(value).value_or(-1) < 0) return refuse("a number, 0 or more");
      break;
    case Takes::kRole:
      if (!RoleFromName(value)) return refuse(std::string(kRoleNames));
      break;
    case Takes::kNothing:
    case Takes::kText:
      break;
  }
  return OkStatus();
}

void AddOption(ArgumentParser& parser, Option option, Given& given) {
  const OptionWords& words = WordsOf(option);
  if (words.takes == Takes::kNothing) {
    parser.AddFlag(words.name, given.flags[option]);
  } else {
    parser.AddValue(words.name, given.values[option]);
  }
}

std::string Padded(std::string text) {
  constexpr std::size_t kWidth = 24;
  text.resize(std::max(kWidth, text.size() + 2), ' ');
  return text;
}

}  // namespace

std::string Given::Text(Option option) const {
  const auto at = values.find(option);
  return at == values.end() ? "" : at->second;
}

std::optional<std::int64_t> Given::Number(Option option) const {
  return ParseNumber<std::int64_t>(Text(option));
}

std::optional<std::chrono::seconds> Given::Duration(Option option) const {
  return ParseWait(Text(option));
}

Result<Given> ParseGiven(const Shape& shape, const std::vector<std::string>& args) {
  Given given;
  std::string short_namespace;
  ArgumentParser parser;
  parser.AddFlag("--help", given.help);
  parser.AddFlag("-h", given.help);
  parser.AddValue("--kubeconfig", given.target.kubeconfig);
  parser.AddValue("--context", given.target.context);
  parser.AddValue("--namespace", given.target.name_space);
  parser.AddValue("-n", short_namespace);
  for (const Option option : shape.options) AddOption(parser, option, given);
  PSTRAIN_ASSIGN_OR_RETURN(given.names, parser.Parse(args));
  if (given.help) return given;
  if (given.target.name_space.empty()) given.target.name_space = short_namespace;
  for (const auto& [option, value] : given.values) {
    if (!value.empty()) PSTRAIN_RETURN_IF_ERROR(Check(WordsOf(option), value));
  }
  if (given.Number(Option::kIndex) && given.Text(Option::kRole).empty()) {
    return InvalidArgumentError("--index needs --role");
  }
  if (given.names.size() < shape.fewest || given.names.size() > shape.most) {
    return InvalidArgumentError("takes " + std::string(shape.usage));
  }
  if (!shape.verb.empty() && given.names.front() != shape.verb) {
    return InvalidArgumentError("takes " + std::string(shape.usage));
  }
  for (const std::string& name : given.names) {
    if (name.empty()) return InvalidArgumentError("a name is empty");
  }
  return given;
}

std::string HelpText(const Shape& shape) {
  std::string text = "usage: pstrain " + std::string(shape.name) + " " + std::string(shape.usage) +
                     "\n\n" + std::string(shape.about) + "\n";
  const auto add = [&text](const std::string& option, std::string_view about) {
    text += "  " + Padded(option) + std::string(about) + "\n";
  };
  for (const Option option : shape.options) {
    const OptionWords& words = WordsOf(option);
    add(std::string(words.name) + (words.value.empty() ? "" : " " + std::string(words.value)),
        words.about);
  }
  for (const TargetWords& words : kTargetOptions) add(std::string(words.name), words.about);
  return text + "example: " + std::string(shape.example) + "\nexit codes: docs/kubectl-plugin.md\n";
}

std::optional<std::chrono::seconds> ParseWait(std::string_view text) {
  std::int64_t unit = 1;
  if (text.ends_with('h')) unit = 3600;
  if (text.ends_with('m')) unit = 60;
  if (unit > 1 || text.ends_with('s')) text.remove_suffix(1);
  const auto number = ParseNumber<std::int32_t>(text);
  if (!number || *number < 0) return std::nullopt;
  return std::chrono::seconds(*number * unit);
}

}  // namespace pstrain::cluster
