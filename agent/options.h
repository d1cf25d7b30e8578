#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/contract/task_env.h"

namespace pstrain {

/// What pstrain-agent is told, by its command line and by its environment, and how both are read.
/// Read once, at the start; constants and pure functions, which any thread may call.

/// Where the cgroup file systems are mounted.
inline constexpr std::string_view kCgroupRootEnv = "PSTRAIN_CGROUP_ROOT";

/// drained or finished: what exit 0 of the program says after a stop request, SIGTERM or SIGINT.
inline constexpr std::string_view kExit0AfterSigtermEnv = "PSTRAIN_EXIT_0_AFTER_SIGTERM";

/// Command line of pstrain-agent; flags win over the environment (proto/contract/task_env.h).
inline constexpr std::string_view kAgentUsage =
    "usage: pstrain-agent [options] [-- COMMAND [ARGUMENT...]]\n"
    "\n"
    "Runs COMMAND (default: the pstrain-runtime beside this program) and reports about it.\n"
    "\n"
    "  --metrics-address HOST:PORT  serve /metrics, /healthz, /readyz, /progress there;\n"
    "                               port 0 takes a free one  (PSTRAIN_METRICS_ADDRESS, "
    "0.0.0.0:9464)\n"
    "  --grace-seconds N            from SIGTERM or SIGINT to SIGKILL of this program by others;\n"
    "                               COMMAND is killed 1 s before  (PSTRAIN_GRACE_SECONDS, 30)\n"
    "  --final-stats-file FILE      write the last reading of COMMAND's stats there\n"
    "                               (PSTRAIN_FINAL_STATS_FILE)\n"
    "  --termination-log FILE       write one line of JSON about the end there\n"
    "                               (PSTRAIN_TERMINATION_LOG, /dev/termination-log if it exists)\n"
    "  --exit-0-after-sigterm drained|finished\n"
    "                               what exit 0 of COMMAND says after SIGTERM or SIGINT: it has\n"
    "                               only drained, and the exit code is 85, or its work is done\n"
    "                               (PSTRAIN_EXIT_0_AFTER_SIGTERM, drained; of pstrain-runtime, "
    "which\n"
    "                               exits 85 itself, finished)\n"
    "  --cgroup-root DIR            where the counters of out-of-memory kills are looked for\n"
    "                               (PSTRAIN_CGROUP_ROOT, /sys/fs/cgroup)\n"
    "  --help, --version\n";

struct AgentOptions {
  TaskEnv task;
  /// task.metrics_address, split; numeric host, brackets kept for IPv6.
  std::string admin_host;
  std::uint16_t admin_port = 0;
  std::vector<std::string> command;
  /// Empty: not written.
  std::string final_stats_file;
  std::string termination_log;
  std::string cgroup_root = "/sys/fs/cgroup";
  /// ProgramExit::exit_0_is_finished.
  bool exit_0_is_finished = false;
  bool help = false;
  bool version = false;
};

/// `arguments` without argv[0]. INVALID_ARGUMENT for an unknown flag, a flag without value, a
/// command without "--" or a value out of range. `default_program` runs when no command is given.
Result<AgentOptions> ParseAgentOptions(const std::vector<std::string>& arguments,
                                       const EnvironmentLookup& environment,
                                       const std::string& default_program);

}  // namespace pstrain
