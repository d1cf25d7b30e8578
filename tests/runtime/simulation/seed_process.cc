#include "tests/runtime/simulation/seed_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/os/files.h"

namespace pstrain::simulation {
namespace {

/// Of real time, also under a sanitizer.
constexpr unsigned kLimitSeconds = 120;

[[noreturn]] void RunChild(std::uint64_t seed, const Mutations& mutations,
                           const std::optional<PlannedFault>& planned, const std::string& directory,
                           int out) {
  alarm(kLimitSeconds);
  if (std::getenv("PSTRAIN_SIMULATION_LOG") == nullptr) {
    SetLogLevel(LogLevel::kError);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
  }
  const ShellResult result = RunShellSimulation(seed, directory, mutations, planned);
  const bool told = write(out, &result, sizeof(result)) == static_cast<ssize_t>(sizeof(result));
  _exit(told ? 0 : 2);
}

}  // namespace

ShellResult RunSeed(std::uint64_t seed, const Mutations& mutations,
                    const std::optional<PlannedFault>& planned) {
  // Files of a simulation need no disk.
  if (FileExists("/dev/shm")) setenv("TMPDIR", "/dev/shm", /*overwrite=*/0);
  const TempDir directory;
  int ends[2];
  ShellResult result;
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) RunChild(seed, mutations, planned, directory.path(), ends[1]);
  close(ends[1]);
  const bool told = read(ends[0], &result, sizeof(result)) == static_cast<ssize_t>(sizeof(result));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (told && status == 0) return result;
  const std::string error =
      WIFSIGNALED(status) ? "the process was killed by signal " + std::to_string(WTERMSIG(status))
                          : "the process ended with " + std::to_string(WEXITSTATUS(status));
  result = {};
  error.copy(result.error, sizeof(result.error) - 1);
  return result;
}

}  // namespace pstrain::simulation
