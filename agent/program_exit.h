#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/json.h"
#include "proto/contract/stated_failure.h"

namespace pstrain {

/// How the training program ended. A value. The functions here are pure: any thread.
struct ProgramExit {
  /// Set when it exited by itself, or could not be started (then kExitNotExecutable or
  /// kExitNotFound).
  std::optional<int> code;
  /// Set when a signal ended it.
  std::optional<int> signal;
  bool started = true;
  /// The agent sent SIGKILL because the grace period was over.
  bool grace_expired = false;
  /// The cgroup's oom_kill counter rose and SIGKILL of others ended the program.
  bool out_of_memory = false;
  /// SIGTERM or SIGINT was passed on to it while it ran.
  bool told_to_stop = false;
  /// What exit 0 says after that: the program has finished its work. Otherwise it has drained, as a
  /// program that traps SIGTERM and leaves cannot say more (docs/design/exit-0-after-sigterm.md).
  bool exit_0_is_finished = false;
  /// For a person; only when it could not be started.
  std::string error;
  /// What it says itself of an exit 87.
  std::optional<StatedFailure> failure;
  /// The end of its standard error (last_words.h).
  std::string last_words;

  /// 85 when it exited 0 and has only drained; else the code itself, or 128 + signal.
  int AgentExitCode() const;
  /// One of Completed, Stopped, Disrupted, Error, Signaled, OOMKilled, GraceExpired, CannotStart,
  /// or what it says itself.
  std::string_view Reason() const;
  /// One sentence for a person. Of a failure of its own, which it does not state, with the last
  /// line of its last words.
  std::string Message() const;
  /// Its last words say why it ended.
  bool EndedInWords() const;

 private:
  std::string Sentence() const;
};

/// {"code":128 + signal or the code,"signal":n?,"reason":..,"oom":..,"failure":{..}?,"message":..?}
/// with the message where the program ended in words.
Json ExitToJson(const ProgramExit& end);

/// The termination message, one line:
/// {"reason":..,"exit_code":n?,"signal":n?,"oom":..,"told_to_stop":true?,"last_step":n?,
///  "message":..,"last_words":..?,"values":{..}}
/// with "failure":{..} in place of the message where the program says itself why it exits 87.
/// `exit_code` is the program's own, `last_words` are there of a failure of its own. A number is
/// left out when it is not known. `values` are those of /progress, as many of them from the first
/// as fit: they are the last that anyone learns of a pod that has ended. The kubelet keeps 4,096
/// bytes of the message (kubernetes.io, "Determine the Reason for Pod Failure").
std::string TerminationMessage(const ProgramExit& end, std::optional<std::uint64_t> last_step,
                               const Json& values);

/// The same for an agent that could not do its own work: reason AgentError.
std::string AgentErrorMessage(std::string_view error);

}  // namespace pstrain
