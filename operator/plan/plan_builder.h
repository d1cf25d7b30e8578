#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/plan/plan.h"
#include "operator/plan/snapshot.h"

namespace pstrain::plan {

/// Collects a plan: the policies are called one after the other, and each reads and adds to it.
/// Lives for one call of Plan; used by its thread.
class PlanBuilder {
 public:
  PlanBuilder(const Snapshot& snapshot, Time now);

  const Snapshot& snapshot() const { return *snapshot_; }
  const JobSpec& spec() const { return snapshot_->job.spec(); }
  Time now() const { return now_; }
  JobStatus& status() { return status_; }
  const JobStatus& status() const { return status_; }

  /// The counts of a replica; added when absent.
  ReplicaRestarts& Record(const ReplicaId& id);
  /// The counts of a replica, or defaults.
  ReplicaRestarts FindRecord(const ReplicaId& id) const;
  /// Attempts of a replica, oldest first.
  const std::vector<const Replica*>& Attempts(const ReplicaId& id) const;
  /// Every replica that has attempts, in the order of roles and indexes.
  const std::map<ReplicaId, std::vector<const Replica*>>& attempts_by_replica() const {
    return attempts_by_replica_;
  }

  /// Notes how an attempt ended, in its replica's record too.
  void NoteEnd(CountedEnd end);
  const std::vector<CountedEnd>& ends() const { return ends_; }

  bool Finished() const { return IsFinished(status_); }
  /// Those whose success is the job's (successPolicy) have exited 0: nobody but the evaluator is
  /// needed any more.
  bool WorkDone() const;
  /// Ends the job. The first call wins.
  void Finish(JobStatus::Phase phase, std::string_view reason, std::string message);

  void Start(const ReplicaId& id, std::int32_t attempt);
  /// No effect on an attempt that has ended or was told to stop already.
  void Stop(const Replica& replica, std::chrono::seconds grace);
  /// No effect on an attempt that was deleted already, in this plan or before.
  void Delete(const Replica& replica);
  void Forget(const Replica& replica);
  /// Asks for another plan at that time; the earliest of several counts.
  void Requeue(Time time);

  /// Why the job ended, set by Finish in this plan.
  const std::string& finish_reason() const { return finish_reason_; }
  const std::string& finish_message() const { return finish_message_; }

  /// The actions in the order in which an executor must take them.
  PlanResult Take() &&;

 private:
  const Snapshot* snapshot_;
  Time now_;
  JobStatus status_;
  std::map<ReplicaId, std::vector<const Replica*>> attempts_by_replica_;
  std::vector<StopReplica> stops_;
  std::vector<DeleteReplica> deletes_;
  std::vector<ForgetReplica> forgotten_;
  std::map<ReplicaId, std::int32_t> starts_;
  std::vector<CountedEnd> ends_;
  /// The workers before this index have succeeded, which stays so: WorkDone does not ask again.
  mutable std::int32_t workers_done_ = 0;
  std::optional<Time> requeue_at_;
  std::string finish_reason_;
  std::string finish_message_;
};

}  // namespace pstrain::plan
