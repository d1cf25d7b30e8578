#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/cluster/job_reader.h"
#include "cli/cluster/problem.h"
#include "cli/cluster/replicas.h"
#include "cli/cluster/session.h"

namespace pstrain::cluster {

/// The questions and orders of `pstrain status`, `suspend`, `resume`, `restart`, `wait` and
/// `events` about the jobs of one namespace. Does not own the session. One thread; all calls block.
class JobCommands {
 public:
  explicit JobCommands(Session& session) : session_(session), reader_(session) {}

  Outcome List(bool json);
  Outcome Status(const std::string& job, bool json);
  /// A merge patch of spec.runPolicy.suspend.
  Outcome Suspend(const std::string& job, bool suspend);
  /// Deletes the pod of the newest attempt of a replica as "worker-1", and that pod only.
  Outcome Restart(const std::string& job, const std::string& replica);
  /// Until the job has ended, at most `timeout`: 0 Succeeded, kExitFailure Failed, kExitTimedOut.
  /// Outages of the apiserver are waited over; without a timeout the first question must be
  /// answered.
  Outcome Wait(const std::string& job, std::optional<std::chrono::seconds> timeout);
  /// Of the job and of its pods that are there, oldest first.
  Outcome Events(const std::string& job);

 private:
  Outcome DeletePod(const ReplicaPod& pod);
  std::string WaitingFor(const std::string& job, const std::string& phase) const;

  Session& session_;
  JobReader reader_;
};

}  // namespace pstrain::cluster
