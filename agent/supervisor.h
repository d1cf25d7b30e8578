#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <utility>

#include "agent/agent_state.h"
#include "agent/oom_watch.h"
#include "agent/program_exit.h"
#include "base/clock.h"
#include "base/os/spawn.h"
#include "base/os/unique_fd.h"
#include "base/status.h"

namespace pstrain {

/// Runs one training program from its start to its end, as PID 1 or as anybody's child. Owner and
/// only caller: the main thread, which does nothing else meanwhile.
///
///   phase     | SIGTERM, SIGINT     | other signal | the program ended    | grace less 1 s over
///   ----------+---------------------+--------------+----------------------+--------------------
///   starting  | waits for running   | likewise     |                      |
///   running   | forward -> stopping | forward      | -> ended             |
///   stopping  | forward             | forward      | -> ended             | SIGKILL -> killing
///   killing   | nothing             | nothing      | -> ended             |
///   ended     | what is left of the program's group and below this process is killed and reaped
///
/// "Other" are SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2; a signal goes to the program alone,
/// not to its group. Orphans that the kernel gives to this process are reaped as they end.
class Supervisor {
 public:
  /// Blocks the signals above and SIGCHLD for the calling thread, hence for all threads that it
  /// makes later, and becomes the reaper of its descendants. Call it before any thread is started.
  /// `state` must outlive the supervisor.
  static Result<Supervisor> Make(AgentState& state);

  /// Starts `program`, with the signal mask and the SIGPIPE that this process began with, and
  /// returns when it has ended and nothing of it is left. One that cannot be started is an end, not
  /// an error. `grace` is the time from SIGTERM or SIGINT until
  /// somebody else kills the agent: the program is killed 1 s before, or at half of a grace below 2
  /// s.
  ProgramExit Run(SpawnRequest program, std::chrono::milliseconds grace, const OomWatch& oom);

 private:
  Supervisor(AgentState& state, UniqueFd signal_fd, const sigset_t& original_mask,
             bool sigpipe_ignored)
      : state_(state),
        signal_fd_(std::move(signal_fd)),
        original_mask_(original_mask),
        sigpipe_ignored_(sigpipe_ignored) {}

  ProgramExit WaitForExit(pid_t child, std::chrono::milliseconds grace);
  /// False when the deadline came first.
  bool WaitForSignal(std::optional<SteadyTime> deadline);
  std::optional<ProgramExit> Reap(pid_t child);
  void HandleSignals(pid_t child, std::chrono::milliseconds grace);
  void KillWhatIsLeft();

  AgentState& state_;
  UniqueFd signal_fd_;
  sigset_t original_mask_;
  bool sigpipe_ignored_;
  std::optional<SteadyTime> kill_at_;
  /// SIGTERM or SIGINT has reached the program before its end.
  bool told_to_stop_ = false;
};

}  // namespace pstrain
