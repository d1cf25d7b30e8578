#include "cli/cluster/commands.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <variant>

#include "base/clock.h"
#include "base/text/parse_number.h"
#include "cli/arguments.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/job_commands.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

constexpr const char* kTargetUsage =
    "\n  --kubeconfig FILE       default: KUBECONFIG, else ~/.kube/config\n"
    "  --context NAME          default: its current-context\n"
    "  -n, --namespace NAME    default: that of the context\n"
    "exit codes: docs/kubectl-plugin.md\n";

struct Arguments {
  std::vector<std::string> names;
  std::string output;
  std::string timeout;
  bool help = false;
  cluster::Target target;
};

/// What a subcommand takes, beside the options that say which cluster.
struct Shape {
  const char* name;
  const char* usage;
  std::size_t fewest;
  std::size_t most;
  bool output = false;
  bool timeout = false;
};

Result<Arguments> Parse(const Shape& shape, const std::vector<std::string>& args) {
  Arguments parsed;
  std::string short_namespace;
  ArgumentParser parser;
  parser.AddFlag("--help", parsed.help);
  parser.AddValue("--kubeconfig", parsed.target.kubeconfig);
  parser.AddValue("--context", parsed.target.context);
  parser.AddValue("--namespace", parsed.target.name_space);
  parser.AddValue("-n", short_namespace);
  if (shape.output) parser.AddValue("-o", parsed.output);
  if (shape.timeout) parser.AddValue("--timeout", parsed.timeout);
  PSTRAIN_ASSIGN_OR_RETURN(parsed.names, parser.Parse(args));
  if (parsed.help) return parsed;
  if (parsed.target.name_space.empty()) parsed.target.name_space = short_namespace;
  if (!parsed.output.empty() && parsed.output != "json") {
    return InvalidArgumentError("-o " + parsed.output + ": must be json");
  }
  if (!parsed.timeout.empty() && !cluster::ParseWait(parsed.timeout)) {
    return InvalidArgumentError("--timeout " + parsed.timeout +
                                ": must be a number of seconds, or as 90s, 10m, 2h");
  }
  if (parsed.names.size() < shape.fewest || parsed.names.size() > shape.most) {
    return InvalidArgumentError("takes " + std::string(shape.usage));
  }
  for (const std::string& name : parsed.names) {
    if (name.empty()) return InvalidArgumentError("a name is empty");
  }
  return parsed;
}

int Fail(const Shape& shape, int exit_code, const std::string& sentence) {
  std::fprintf(stderr, "pstrain %s: %s\n", shape.name, sentence.c_str());
  return exit_code;
}

template <typename Ask>
int Run(const Shape& shape, const std::vector<std::string>& args, Ask ask) {
  const Result<Arguments> parsed = Parse(shape, args);
  if (!parsed.ok()) {
    return Fail(shape, kExitUsage,
                parsed.status().message() + "; see pstrain " + shape.name + " --help");
  }
  if (parsed->help) {
    std::printf("usage: pstrain %s %s\n%s", shape.name, shape.usage, kTargetUsage);
    return kExitSuccess;
  }
  auto opened = cluster::Connection::Open(parsed->target);
  if (const auto* problem = std::get_if<cluster::Problem>(&opened)) {
    return Fail(shape, problem->exit_code, problem->sentence);
  }
  cluster::Connection& connection = *std::get<std::unique_ptr<cluster::Connection>>(opened);
  cluster::JobCommands commands(connection.client(), connection.pause(), connection.name_space(),
                                WallNow);
  const cluster::Outcome outcome = ask(commands, *parsed);
  if (const auto* problem = std::get_if<cluster::Problem>(&outcome)) {
    return Fail(shape, problem->exit_code, problem->sentence);
  }
  const auto& answer = std::get<cluster::Answer>(outcome);
  std::fputs(answer.text.c_str(), stdout);
  return answer.exit_code;
}

int SetSuspend(const Shape& shape, const std::vector<std::string>& args, bool suspend) {
  return Run(shape, args, [suspend](cluster::JobCommands& jobs, const Arguments& given) {
    return jobs.Suspend(given.names[0], suspend);
  });
}

}  // namespace

std::optional<std::chrono::seconds> cluster::ParseWait(std::string_view text) {
  std::int64_t unit = 1;
  if (text.ends_with('h')) unit = 3600;
  if (text.ends_with('m')) unit = 60;
  if (unit > 1 || text.ends_with('s')) text.remove_suffix(1);
  const auto number = ParseNumber<std::int32_t>(text);
  if (!number || *number < 0) return std::nullopt;
  return std::chrono::seconds(*number * unit);
}

int StatusCommand(const std::vector<std::string>& args) {
  return Run({"status", "[JOB] [-o json]", 0, 1, true}, args,
             [](cluster::JobCommands& jobs, const Arguments& given) {
               const bool json = !given.output.empty();
               return given.names.empty() ? jobs.List(json) : jobs.Status(given.names[0], json);
             });
}

int SuspendCommand(const std::vector<std::string>& args) {
  return SetSuspend({"suspend", "JOB", 1, 1}, args, true);
}

int ResumeCommand(const std::vector<std::string>& args) {
  return SetSuspend({"resume", "JOB", 1, 1}, args, false);
}

int RestartCommand(const std::vector<std::string>& args) {
  return Run({"restart", "JOB REPLICA, as worker-1", 2, 2}, args,
             [](cluster::JobCommands& jobs, const Arguments& given) {
               return jobs.Restart(given.names[0], given.names[1]);
             });
}

int WaitCommand(const std::vector<std::string>& args) {
  return Run({"wait", "JOB [--timeout 10m]", 1, 1, false, true}, args,
             [](cluster::JobCommands& jobs, const Arguments& given) {
               return jobs.Wait(given.names[0], cluster::ParseWait(given.timeout));
             });
}

int EventsCommand(const std::vector<std::string>& args) {
  return Run({"events", "JOB", 1, 1}, args, [](cluster::JobCommands& jobs, const Arguments& given) {
    return jobs.Events(given.names[0]);
  });
}

}  // namespace pstrain
