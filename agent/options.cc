#include "agent/options.h"

#include <map>
#include <optional>
#include <utility>

#include "base/os/files.h"
#include "base/text/parse_number.h"

namespace pstrain {
namespace {

constexpr std::string_view kDefaultTerminationLog = "/dev/termination-log";

/// Flags that stand for a variable of the environment.
const std::map<std::string_view, std::string_view>& FlagToVariable() {
  static const std::map<std::string_view, std::string_view> table = {
      {"--metrics-address", kMetricsAddressEnv},         {"--grace-seconds", kGraceSecondsEnv},
      {"--final-stats-file", kFinalStatsFileEnv},        {"--termination-log", kTerminationLogEnv},
      {"--exit-0-after-sigterm", kExit0AfterSigtermEnv}, {"--cgroup-root", kCgroupRootEnv}};
  return table;
}

struct CommandLine {
  std::map<std::string, std::string, std::less<>> variables;
  std::vector<std::string> command;
  bool help = false;
  bool version = false;
};

Result<CommandLine> SplitCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") {
      line.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      if (line.command.empty()) return InvalidArgumentError("no command after --");
      break;
    }
    if (argument == "--help") {
      line.help = true;
      continue;
    }
    if (argument == "--version") {
      line.version = true;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const auto flag = FlagToVariable().find(argument.substr(0, equals));
    if (flag == FlagToVariable().end()) {
      return InvalidArgumentError(argument.starts_with("-")
                                      ? "unknown option " + arguments[i]
                                      : "put the command after --: " + arguments[i]);
    }
    if (equals != std::string_view::npos) {
      line.variables[std::string(flag->second)] = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      line.variables[std::string(flag->second)] = arguments[++i];
    } else {
      return InvalidArgumentError(arguments[i] + " needs a value");
    }
  }
  return line;
}

Status SplitAddress(const std::string& address, AgentOptions& options) {
  const std::size_t colon = address.rfind(':');
  auto error = InvalidArgumentError("metrics address '" + address + "' is not HOST:PORT");
  if (colon == std::string::npos || colon == 0) return error;
  const auto port = ParseNumber<std::uint16_t>(std::string_view(address).substr(colon + 1));
  if (!port) return error;
  options.admin_host = address.substr(0, colon);
  options.admin_port = *port;
  return OkStatus();
}

/// The built-in runtime exits 85 itself when it has drained; of a program of your own exit 0 after
/// SIGTERM is what any shell or framework gives that leaves in order.
Status ReadExit0AfterSigterm(const EnvironmentLookup& lookup, AgentOptions& options) {
  const std::string& program = options.command.front();
  const bool built_in = program.substr(program.rfind('/') + 1) == "pstrain-runtime";
  const std::string meaning =
      lookup(kExit0AfterSigtermEnv).value_or(built_in ? "finished" : "drained");
  if (meaning != "drained" && meaning != "finished") {
    return InvalidArgumentError("--exit-0-after-sigterm (" + std::string(kExit0AfterSigtermEnv) +
                                ") is '" + meaning + "'; it is drained or finished");
  }
  options.exit_0_is_finished = meaning == "finished";
  return OkStatus();
}

}  // namespace

Result<AgentOptions> ParseAgentOptions(const std::vector<std::string>& arguments,
                                       const EnvironmentLookup& environment,
                                       const std::string& default_program) {
  PSTRAIN_ASSIGN_OR_RETURN(CommandLine line, SplitCommandLine(arguments));
  const EnvironmentLookup lookup = [&](std::string_view name) -> std::optional<std::string> {
    const auto flag = line.variables.find(name);
    if (flag != line.variables.end()) return flag->second;
    return environment(name);
  };
  AgentOptions options;
  options.help = line.help;
  options.version = line.version;
  if (options.help || options.version) return options;
  PSTRAIN_ASSIGN_OR_RETURN(options.task, FromEnvironment(lookup, /*require_task=*/false));
  PSTRAIN_RETURN_IF_ERROR(SplitAddress(options.task.metrics_address, options));
  options.command = std::move(line.command);
  if (options.command.empty()) options.command = {default_program};
  PSTRAIN_RETURN_IF_ERROR(ReadExit0AfterSigterm(lookup, options));
  options.final_stats_file = lookup(kFinalStatsFileEnv).value_or("");
  options.cgroup_root = lookup(kCgroupRootEnv).value_or(options.cgroup_root);
  const auto termination_log = lookup(kTerminationLogEnv);
  if (termination_log) {
    options.termination_log = *termination_log;
  } else if (FileExists(std::string(kDefaultTerminationLog))) {
    options.termination_log = kDefaultTerminationLog;
  }
  return options;
}

}  // namespace pstrain
