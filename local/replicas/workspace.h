#pragma once

#include <string>
#include <utility>

#include "base/os/unique_fd.h"
#include "base/status.h"
#include "base/text/json.h"
#include "operator/plan/snapshot.h"

namespace pstrain::local {

/// The directory `<state dir>/<job>` of one job on this machine, held by a lock for as long as this
/// object lives, so that two runs cannot share it. Any thread may ask for paths; what reads or
/// writes files is called by one thread.
///
///   lock              flock(2)ed by the run
///   run.json          {"job":...,"run_id":...}
///   identity-key      by which the replicas know each other
///   job.json          the job as the replicas see it
///   endpoints.json    pid, attempt, address and metrics URL of each replica
///   logs/             <role>-<index>-<attempt>.log
///   stats/            last reading of each attempt, written by its agent
///   scratch/          one folder per attempt
///   volumes/<name>    stands for the volume of that name
class Workspace {
 public:
  /// Makes the directories and takes the lock. FAILED_PRECONDITION when another run holds it.
  static Result<Workspace> Open(const std::string& state_dir, const std::string& job);

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::string LogFile(const plan::ReplicaId& id, int attempt) const;
  std::string StatsFile(const plan::ReplicaId& id, int attempt) const;
  std::string ScratchDir(const plan::ReplicaId& id, int attempt) const;

  /// A random one.
  static std::string FreshRunId();
  /// The stored run id. NOT_FOUND when none is, DATA_LOSS when it cannot be read; both tell the way
  /// out. Changes nothing.
  Result<std::string> LastRunId() const;
  /// The secret by which the replicas of a run know each other: 32 random bytes, readable by this
  /// user alone. New with each call.
  Status WriteIdentityKey() const;
  std::string IdentityKeyFile() const { return File("identity-key"); }

  /// Stores the id as that of the last run, and where its checkpoints are; logs and stats of
  /// earlier runs are removed. `checkpoints`: a directory of this machine; empty: it has none.
  Status BeginRun(const std::string& run_id, const std::string& checkpoints) const;
  /// Makes room for the next part of the last run; logs are kept and appended to.
  /// FAILED_PRECONDITION where that run has its checkpoints in another directory, and nobody has
  /// moved them: it would begin again. Then nothing is changed.
  Status ResumeRun(const std::string& run_id, const std::string& checkpoints) const;

 private:
  Workspace(std::string path, std::string job, UniqueFd lock)
      : path_(std::move(path)), job_(std::move(job)), lock_(std::move(lock)) {}
  Status ClearForRun(bool keep_logs) const;
  Status StoreRun(const std::string& run_id, const std::string& checkpoints) const;
  Status CheckMoved(const std::string& run_id, const std::string& checkpoints) const;

  std::string path_;
  std::string job_;
  UniqueFd lock_;
};

}  // namespace pstrain::local
