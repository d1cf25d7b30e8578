#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "local/replicas/agent_probe.h"
#include "local/replicas/launcher.h"
#include "local/replicas/replica_process.h"
#include "local/replicas/workspace.h"
#include "operator/plan/snapshot.h"

namespace pstrain::local {

struct AttemptId {
  plan::ReplicaId replica;
  std::int32_t attempt = 0;
  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
};

/// One attempt: its agent's process, what it says of itself, what Plan is told about it.
struct Attempt {
  Attempt(const AttemptId& id, ReplicaProcess agent, std::uint16_t metrics_port)
      : process(std::move(agent)), probe(metrics_port) {
    replica.id = id.replica;
    replica.attempt = id.attempt;
  }

  ReplicaProcess process;
  AgentProbe probe;
  plan::Replica replica;
  /// The agent's child; kept from the first reading that names it.
  std::optional<ForeignProcess> child;
  std::optional<AgentReading> reading;
  std::optional<SteadyTime> kill_at;
};

/// The attempts of a run, living and ended, each with its process: what the pods of a job are in a
/// cluster. It carries out the plan's actions (Start, Stop, Delete), notes how attempts end, and
/// gives all of that to the next plan (Replicas). It decides nothing but one thing: when the grace
/// of a stop is over, it kills. Owner: LocalJob; one thread. The destructor kills what still runs.
class ReplicaSet {
 public:
  ReplicaSet(const Launcher& launcher, const Workspace& workspace)
      : launcher_(&launcher), workspace_(&workspace) {}
  ReplicaSet(const ReplicaSet&) = delete;
  ReplicaSet& operator=(const ReplicaSet&) = delete;
  ~ReplicaSet();

  Status Start(const AttemptId& id, plan::Time now);
  /// SIGTERM now, SIGKILL after `grace` or the role's own, whichever is shorter.
  void Stop(const AttemptId& id, std::chrono::seconds grace, SteadyTime now);
  void Delete(const AttemptId& id);

  /// Reaps what has ended and kills what has outlived its grace. True when an attempt ended.
  bool Observe(plan::Time now, SteadyTime steady_now);
  /// Takes a reading of an attempt over.
  void Note(Attempt& attempt, AgentReading reading);
  /// SIGKILLs everything below this process and waits.
  void KillAll();

  std::vector<plan::Replica> Replicas() const;
  /// When Observe must be called at the latest.
  std::optional<SteadyTime> NextDeadline() const;
  bool AnyAlive() const;
  /// REQUIRES: the attempt was started and not deleted.
  pid_t AgentPid(const AttemptId& id) const { return attempts_.at(id)->process.pid(); }
  /// The newest attempt of a replica that has not ended; nullptr when there is none.
  Attempt* FindAlive(const plan::ReplicaId& id);
  std::map<AttemptId, std::unique_ptr<Attempt>>& attempts() { return attempts_; }
  /// The last reading of every attempt of the run, deleted ones too.
  const std::map<AttemptId, AgentReading>& readings() const { return readings_; }

 private:
  /// What a killed agent left to this process, which is the reaper (guard.h).
  void KillOrphans();
  void NoteEnd(Attempt& attempt, const ProcessEnd& end, plan::Time now);

  const Launcher* launcher_;
  const Workspace* workspace_;
  std::map<AttemptId, std::unique_ptr<Attempt>> attempts_;
  std::map<AttemptId, AgentReading> readings_;
};

}  // namespace pstrain::local
