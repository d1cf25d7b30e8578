#include <array>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster/commands.h"
#include "cli/cluster/completion.h"
#include "cli/commands.h"
#include "proto/contract/exit_codes.h"

namespace {

int Completion(const std::vector<std::string>& args);

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& args);
};

constexpr std::array kCommands = {
    Command{"init", "write a manifest for a CSV file", pstrain::InitCommand},
    Command{"run", "run a job on this machine", pstrain::RunCommand},
    Command{"validate", "check manifests", pstrain::ValidateCommand},
    Command{"convert", "write a TFJob of Kubeflow as a PSTrainingJob", pstrain::ConvertCommand},
    Command{"tf-config", "print the TF_CONFIG of a replica", pstrain::TfConfigCommand},
    Command{"inspect", "show what a checkpoint or a run holds", pstrain::InspectCommand},
    Command{"runs", "list, compare and delete runs on this machine", pstrain::RunsCommand},
    Command{"report", "write a page about a run", pstrain::ReportCommand},
    Command{"evaluate", "score a trained model on labelled records", pstrain::EvaluateCommand},
    Command{"predict", "print what a trained model says of records", pstrain::PredictCommand},
    Command{"export", "write a trained model for other programs", pstrain::ExportCommand},
    Command{"status", "show the jobs of a cluster, or one of them", pstrain::StatusCommand},
    Command{"events", "show the events of a job in a cluster", pstrain::EventsCommand},
    Command{"logs", "show what the replicas of a job in a cluster write", pstrain::LogsCommand},
    Command{"top", "show how fast the replicas of a job in a cluster are", pstrain::TopCommand},
    Command{"describe-config", "show what the replicas of a job in a cluster are told",
            pstrain::DescribeConfigCommand},
    Command{"debug", "write down what a cluster knows of a job", pstrain::DebugCommand},
    Command{"wait", "wait for the end of a job in a cluster", pstrain::WaitCommand},
    Command{"suspend", "suspend a job in a cluster", pstrain::SuspendCommand},
    Command{"resume", "resume a job in a cluster", pstrain::ResumeCommand},
    Command{"restart", "restart a replica of a job in a cluster", pstrain::RestartCommand},
    Command{"completion", "print what completes commands in bash or zsh", Completion},
};

void PrintUsage(std::FILE* out) {
  std::fputs("usage: pstrain COMMAND [arguments]\n\n", out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-15s %s\n", std::string(command.name).c_str(),
                 std::string(command.summary).c_str());
  }
  std::fputs("  version         print the version\n\nmore: pstrain COMMAND --help\n", out);
}

int Completion(const std::vector<std::string>& args) {
  std::vector<pstrain::CompletedCommand> commands;
  commands.reserve(std::size(kCommands));
  for (const Command& command : kCommands) {
    commands.push_back({std::string(command.name), std::string(command.summary)});
  }
  return pstrain::CompletionCommand(args, commands);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty()) {
    PrintUsage(stderr);
    return pstrain::kExitUsage;
  }
  const std::string name = args.front();
  args.erase(args.begin());
  if (name == "--help" || name == "-h" || name == "help") {
    PrintUsage(stdout);
    return pstrain::kExitSuccess;
  }
  if (name == "version" || name == "--version") {
    std::printf("pstrain %s\n", PSTRAIN_VERSION);
    return pstrain::kExitSuccess;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(args);
  }
  std::fprintf(stderr, "pstrain: there is no command %s\n", name.c_str());
  PrintUsage(stderr);
  return pstrain::kExitUsage;
}
