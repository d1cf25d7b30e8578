#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/os/unique_fd.h"
#include "base/status.h"
#include "local/chaos.h"
#include "local/local_job.h"
#include "local/progress_view.h"

namespace pstrain::local {

struct SessionOptions {
  std::vector<ChaosKill> kills;
  /// Stop, as by Ctrl-C, when so many percent of the examples are committed.
  std::optional<double> stop_at_percent;
  /// Told of each reading of the chief, before it is shown. May be empty.
  std::function<void(const AgentReading& chief)> observe_chief;
  /// Told of each event of the replicas, before it is shown. May be empty.
  std::function<void(const std::string& event)> observe_event;
  /// Told beyond which percentages the chief should not go far yet (grant_barrier_files.h): before
  /// anything is started, and after each reading of the chief; then an error is only shown. May be
  /// empty.
  std::function<Status(const std::set<double>& percents)> block_grants;
};

enum class SessionEnd { kSucceeded, kFailed, kStopped, kAborted };

/// Runs a job to its end, or until it is told to stop: one thread and one poll(2) for processes,
/// agents, signals and the plan's time. SIGINT, SIGTERM and SIGHUP must be blocked; the first asks
/// the job to stop and save its work, the second kills it, and so does the loss of the guard
/// (guard.h).
class RunSession {
 public:
  RunSession(LocalJob& job, SessionOptions options, ProgressView& view);
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;

  /// An error when a process could not be started or a system call failed; nothing runs then.
  Result<SessionEnd> Run();

  const std::vector<KillRecord>& kills() const { return chaos_.records(); }
  bool AllKillsFired() const { return chaos_.AllFired(); }

 private:
  Status Wait();
  std::chrono::milliseconds WaitTime(SteadyTime now) const;
  void BeginProbes(SteadyTime now);
  void AdvanceProbes(SteadyTime now);
  std::chrono::milliseconds ProbePeriod(const Attempt& attempt) const;
  void HandleSignals();
  Status BlockGrants() const;
  bool StopAwaited() const { return options_.stop_at_percent && !stop_requested_; }
  void RequestStop(const std::string& why);

  LocalJob* job_;
  SessionOptions options_;
  ProgressView* view_;
  Chaos chaos_;
  UniqueFd signals_;
  bool stop_requested_ = false;
  bool aborted_ = false;
  bool lingering_said_ = false;
};

/// The signals that RunSession takes.
void BlockSessionSignals();

}  // namespace pstrain::local
