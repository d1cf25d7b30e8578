#include "cli/cluster/commands.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <variant>

#include "cli/cluster/agents/top.h"
#include "cli/cluster/bundle/bundle.h"
#include "cli/cluster/command_line.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/describe_config.h"
#include "cli/cluster/job_commands.h"
#include "cli/cluster/logs/logs.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

using cluster::Given;
using cluster::Option;
using cluster::Outcome;
using cluster::Session;
using cluster::Shape;

using Ask = std::function<Outcome(Session& session, const Given& given)>;

int Fail(const Shape& shape, int exit_code, const std::string& sentence) {
  std::fprintf(stderr, "pstrain %s: %s\n", std::string(shape.name).c_str(), sentence.c_str());
  return exit_code;
}

Session SessionOf(const Shape& shape, cluster::Connection& connection) {
  const std::string name(shape.name);
  return {.client = connection.client(),
          .pause = connection.pause(),
          .clock = connection.clock(),
          .name_space = connection.name_space(),
          .out =
              [](std::string_view text) {
                return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                       std::fflush(stdout) == 0;
              },
          .tell =
              [name](const std::string& line) {
                std::fprintf(stderr, "pstrain %s: %s\n", name.c_str(), line.c_str());
              }};
}

int Run(const Shape& shape, const std::vector<std::string>& args, const Ask& ask) {
  const Result<Given> given = cluster::ParseGiven(shape, args);
  if (!given.ok()) {
    return Fail(shape, kExitUsage,
                given.status().message() + "; see pstrain " + std::string(shape.name) + " --help");
  }
  if (given->help) {
    std::fputs(cluster::HelpText(shape).c_str(), stdout);
    return kExitSuccess;
  }
  auto opened = cluster::Connection::Open(given->target);
  if (const auto* problem = std::get_if<cluster::Problem>(&opened)) {
    return Fail(shape, problem->exit_code, problem->sentence);
  }
  Session session = SessionOf(shape, *std::get<std::unique_ptr<cluster::Connection>>(opened));
  const Outcome outcome = ask(session, *given);
  if (const auto* problem = std::get_if<cluster::Problem>(&outcome)) {
    return Fail(shape, problem->exit_code, problem->sentence);
  }
  const auto& answer = std::get<cluster::Answer>(outcome);
  std::fputs(answer.text.c_str(), stdout);
  return answer.exit_code;
}

int SetSuspend(const Shape& shape, const std::vector<std::string>& args, bool suspend) {
  return Run(shape, args, [suspend](Session& session, const Given& given) {
    return cluster::JobCommands(session).Suspend(given.names[0], suspend);
  });
}

}  // namespace

int StatusCommand(const std::vector<std::string>& args) {
  return Run({.name = "status",
              .usage = "[JOB] [options]",
              .about = "Shows the jobs of a namespace, or phase, conditions, replicas and "
                       "progress of one.",
              .example = "pstrain status adult -n team",
              .fewest = 0,
              .most = 1,
              .options = {Option::kJson}},
             args, [](Session& session, const Given& given) {
               cluster::JobCommands jobs(session);
               const bool json = !given.Text(Option::kJson).empty();
               return given.names.empty() ? jobs.List(json) : jobs.Status(given.names[0], json);
             });
}

int SuspendCommand(const std::vector<std::string>& args) {
  return SetSuspend({.name = "suspend",
                     .usage = "JOB [options]",
                     .about = "Sets spec.runPolicy.suspend: the job's pods end after a checkpoint.",
                     .example = "pstrain suspend adult",
                     .fewest = 1,
                     .most = 1},
                    args, true);
}

int ResumeCommand(const std::vector<std::string>& args) {
  return SetSuspend({.name = "resume",
                     .usage = "JOB [options]",
                     .about = "Takes spec.runPolicy.suspend back: the job goes on.",
                     .example = "pstrain resume adult",
                     .fewest = 1,
                     .most = 1},
                    args, false);
}

int RestartCommand(const std::vector<std::string>& args) {
  return Run({.name = "restart",
              .usage = "JOB REPLICA [options]",
              .about = "Deletes the pod of the newest attempt of a replica; another follows.",
              .example = "pstrain restart adult worker-1",
              .fewest = 2,
              .most = 2},
             args, [](Session& session, const Given& given) {
               return cluster::JobCommands(session).Restart(given.names[0], given.names[1]);
             });
}

int WaitCommand(const std::vector<std::string>& args) {
  return Run({.name = "wait",
              .usage = "JOB [options]",
              .about = "Returns when the job has ended: 0 when it has succeeded, 1 when it has "
                       "failed.",
              .example = "pstrain wait adult --timeout 2h",
              .fewest = 1,
              .most = 1,
              .options = {Option::kTimeout}},
             args, [](Session& session, const Given& given) {
               return cluster::JobCommands(session).Wait(given.names[0],
                                                         given.Duration(Option::kTimeout));
             });
}

int EventsCommand(const std::vector<std::string>& args) {
  return Run({.name = "events",
              .usage = "JOB [options]",
              .about = "Shows the events of the job and of its pods, oldest first.",
              .example = "pstrain events adult",
              .fewest = 1,
              .most = 1},
             args, [](Session& session, const Given& given) {
               return cluster::JobCommands(session).Events(given.names[0]);
             });
}

int TopCommand(const std::vector<std::string>& args) {
  return Run({.name = "top",
              .usage = "JOB [options]",
              .about = "Shows rate, busy share and memory of each replica, measured over two "
                       "seconds.",
              .example = "pstrain top adult",
              .fewest = 1,
              .most = 1},
             args, [](Session& session, const Given& given) {
               return cluster::Top(session, given.names[0]);
             });
}

int DescribeConfigCommand(const std::vector<std::string>& args) {
  return Run({.name = "describe-config",
              .usage = "JOB [options]",
              .about = "Shows the job as the defaults fill it, and TF_CONFIG and environment of "
                       "each role.",
              .example = "pstrain describe-config adult",
              .fewest = 1,
              .most = 1},
             args, [](Session& session, const Given& given) {
               return cluster::DescribeConfig(session, given.names[0]);
             });
}

int DebugCommand(const std::vector<std::string>& args) {
  const Shape shape{.name = "debug",
                    .usage = "bundle JOB [options]",
                    .about =
                        "Writes a tar with the job's objects, events, logs and metrics, "
                        "without Secrets and values of variables.",
                    .example = "pstrain debug bundle adult -o adult.tar",
                    .fewest = 2,
                    .most = 2,
                    .verb = "bundle",
                    .options = {Option::kFile}};
  return Run(shape, args, [](Session& session, const Given& given) {
    return cluster::DebugBundle(session).Write(given.names[1], given.Text(Option::kFile));
  });
}

int LogsCommand(const std::vector<std::string>& args) {
  return Run({.name = "logs",
              .usage = "JOB [options]",
              .about = "Shows what the training containers have written, each line after the name "
                       "of its replica.",
              .example = "pstrain logs adult --role worker --merge --since 10m",
              .fewest = 1,
              .most = 1,
              .options = {Option::kRole, Option::kIndex, Option::kMerge, Option::kPrevious,
                          Option::kFollow, Option::kTimestamps, Option::kTail, Option::kSince}},
             args, [](Session& session, const Given& given) {
               return cluster::Logs(session).Show({.job = given.names[0],
                                                   .role = given.Text(Option::kRole),
                                                   .index = given.Number(Option::kIndex),
                                                   .merge = given.Has(Option::kMerge),
                                                   .previous = given.Has(Option::kPrevious),
                                                   .follow = given.Has(Option::kFollow),
                                                   .timestamps = given.Has(Option::kTimestamps),
                                                   .tail = given.Number(Option::kTail),
                                                   .since = given.Duration(Option::kSince)});
             });
}

}  // namespace pstrain
