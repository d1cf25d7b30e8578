#pragma once

#include <string>
#include <vector>

namespace pstrain {

/// The subcommands that ask a cluster, as those of cli/commands.h; docs/kubectl-plugin.md has what
/// each does and its exit codes. Called once, by the main thread.
int StatusCommand(const std::vector<std::string>& args);
int SuspendCommand(const std::vector<std::string>& args);
int ResumeCommand(const std::vector<std::string>& args);
int RestartCommand(const std::vector<std::string>& args);
int WaitCommand(const std::vector<std::string>& args);
int EventsCommand(const std::vector<std::string>& args);
int LogsCommand(const std::vector<std::string>& args);
int TopCommand(const std::vector<std::string>& args);
int DescribeConfigCommand(const std::vector<std::string>& args);
int DebugCommand(const std::vector<std::string>& args);

}  // namespace pstrain
