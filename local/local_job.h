#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "local/replicas/launcher.h"
#include "local/replicas/replica_set.h"
#include "local/replicas/workspace.h"
#include "operator/plan/plan.h"

namespace pstrain::local {

/// A job on this machine: asks Plan what to do and does it with processes. One thread.
class LocalJob {
 public:
  LocalJob(const Launcher& launcher, const Workspace& workspace, const Clock& clock);

  /// Checks the processes, plans and acts until there is nothing more to do now. An error means
  /// that a process could not be started, which no restart would change.
  Status Step();
  /// Asks for a stop that saves the work: the job is suspended. A finished job's replicas, which
  /// cleanPodPolicy None has left running, are stopped.
  void Suspend();

  bool Finished() const { return plan::IsFinished(job_.status()) && !replicas_.AnyAlive(); }
  /// Finished, but cleanPodPolicy None lets replicas run on to their own end.
  bool Lingers() const;
  bool Suspended() const { return job_.status().phase() == JobStatus::Suspended; }
  bool Succeeded() const { return job_.status().phase() == JobStatus::Succeeded; }
  const JobStatus& status() const { return job_.status(); }
  /// Why the job failed: reason and message of the condition Failed.
  std::string FailureText() const;
  /// A replica has said that no attempt can succeed: the same command would fail the same way.
  bool FailedForGood() const;

  /// When Step must be called at the latest, even if no process ends.
  std::optional<SteadyTime> NextStep() const;
  ReplicaSet& replicas() { return replicas_; }

  /// What happened since the last call, a line each, for a person.
  std::vector<std::string> TakeEvents() { return std::exchange(events_, {}); }

  /// Attempts that crashed, oldest first.
  const std::vector<AttemptId>& crashed() const { return crashed_; }

 private:
  Status Act(const plan::PlanResult& plan, SteadyTime now);
  Status Start(const AttemptId& id);
  /// What the plan has counted: crashes, and replicas that have to wait.
  void NoteCounts(const plan::Snapshot& snapshot, const JobStatus& after);
  Status WriteEndpoints() const;
  plan::Time Now() const;

  const Launcher* launcher_;
  const Workspace* workspace_;
  const Clock* clock_;
  PSTrainingJob job_;
  std::chrono::seconds grace_{0};  // the longest of the roles; ReplicaSet shortens it
  ReplicaSet replicas_;
  std::optional<SteadyTime> requeue_at_;
  std::vector<AttemptId> crashed_;
  std::vector<std::string> events_;
};

}  // namespace pstrain::local
