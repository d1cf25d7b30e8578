#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/backoff.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/seconds.h"
#include "base/status.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// Repeats what a disk refuses for now: a run whose volume answers EIO or ESTALE for a while is
/// neither damaged nor ended. The pauses grow from 0.1 to 10 s; after
/// RoleContext::peer_timeout, or when the process is told to stop, the last error is
/// returned. One thread.
class TryAgain {
 public:
  /// Waits; false when that was cut short by a stop. Tests give their own.
  using Pause = std::function<bool(std::chrono::nanoseconds)>;
  /// What the log says of each try that failed. Literals.
  struct Log {
    const char* role = "chief";
    const char* message = "the run's directory cannot be used now";
  };

  explicit TryAgain(const RoleContext& context, Log log = DirectoryOfChief())
      : TryAgain(
            context.peer_timeout(),
            [&context](std::chrono::nanoseconds pause) { return PauseFor(pause, context.stop); },
            log) {}
  TryAgain(std::chrono::nanoseconds limit, Pause pause, Log log = DirectoryOfChief())
      : limit_(limit), pause_(std::move(pause)), log_(log) {}

  /// An error of the device or of the network file system.
  static bool MayPass(const Status& status) { return status.code() == StatusCode::kUnavailable; }
  /// As MayPass, or too many open files, no memory, or permissions: what was written once may be
  /// readable again. For what is only read, and for a directory that was written to before; one
  /// that nobody may write to, or that is full from the start, is to be seen immediately.
  static bool ReadMayPass(const Status& status) {
    return MayPass(status) || status.code() == StatusCode::kResourceExhausted ||
           status.code() == StatusCode::kPermissionDenied;
  }

  /// The first outcome of `attempt`, a function that returns a Result, that does not pass.
  template <typename Attempt>
  auto Until(Attempt attempt, bool (*may_pass)(const Status&) = MayPass) {
    std::chrono::nanoseconds waited{0};
    while (true) {
      auto outcome = attempt();
      if (outcome.ok() || !may_pass(outcome.status()) || waited >= limit_) return outcome;
      const std::chrono::nanoseconds pause = pauses_.Next();
      LogWarning(log_.role, std::string(log_.message) + "; trying again",
                 {{"in_seconds", InSeconds(pause)}, {"error", outcome.status()}});
      if (!pause_(pause)) return outcome;
      waited += pause;
    }
  }

 private:
  // Not a default argument: the members' initializers are known only once the class is complete.
  static Log DirectoryOfChief() { return {}; }

  const std::chrono::nanoseconds limit_;
  const Pause pause_;
  const Log log_;
  Backoff pauses_{Backoff::Options{.cap = std::chrono::seconds(10)}};
};

}  // namespace pstrain
