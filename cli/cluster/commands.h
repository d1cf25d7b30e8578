#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pstrain {

/// The subcommands that ask a cluster, as those of cli/commands.h; docs/kubectl-plugin.md has their
/// exit codes. `status [JOB]`, `suspend JOB`, `resume JOB`, `restart JOB REPLICA`, `wait JOB`,
/// `events JOB`.
int StatusCommand(const std::vector<std::string>& args);
int SuspendCommand(const std::vector<std::string>& args);
int ResumeCommand(const std::vector<std::string>& args);
int RestartCommand(const std::vector<std::string>& args);
int WaitCommand(const std::vector<std::string>& args);
int EventsCommand(const std::vector<std::string>& args);

namespace cluster {

/// "90", "90s", "10m" or "2h"; nothing for another text. Pure; any thread.
std::optional<std::chrono::seconds> ParseWait(std::string_view text);

}  // namespace cluster
}  // namespace pstrain
