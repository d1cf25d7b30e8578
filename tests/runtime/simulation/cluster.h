#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "proto/contract/roles.h"
#include "proto/contract/stats_page.h"
#include "proto/job/psjob.pb.h"
#include "runtime/cluster/role_context.h"
#include "tests/runtime/simulation/issuer.h"
#include "tests/runtime/simulation/network.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {

/// The replicas of a job as simulated processes, each the product's own RunChief, RunPs, RunWorker
/// or RunEvaluator; and what an executor does for them: a replica that has ended is started again a
/// second later, as the next attempt, until the chief says that the job is finished. One thread.
class Cluster {
 public:
  struct Replica {
    Role role = Role::kChief;
    std::uint32_t index = 0;
    std::uint32_t attempt = 0;
    /// 0: it does not run.
    Process process = 0;
    std::stop_source stop;
    std::shared_ptr<StatsWriter> stats;
    /// Whose tokens it has where it is not that attempt of the replica: it may fail, and nobody
    /// starts it again.
    std::optional<std::uint32_t> stolen_from = std::nullopt;
    /// Why no attempt can succeed, as it says.
    std::string stated = {};
    /// A ps beyond the number that the job wants: it does not come back.
    bool surplus = false;
  };

  /// All outlive it. `chief_job`: with which the chief is started.
  Cluster(Scheduler& scheduler, Network& network, const PSTrainingJob& job,
          const PSTrainingJob& chief_job, std::string scratch);

  /// The file that tells a chief how many ps the job wants; empty: that cannot change. To be set
  /// before Start.
  std::string ps_count_file;
  /// What processes show each other; null: nothing. Outlives it. To be set before Start.
  Issuer* issuer = nullptr;
  /// Called before a process starts on that host.
  std::function<void(const Host& host)> on_launch;
  /// A process of that host may fail now; it is started again like any other that has ended.
  std::function<bool(const Host& host)> excused;

  /// Starts all replicas.
  void Start();
  /// The chief has ended with success.
  bool finished() const { return finished_; }
  /// Why the job failed; empty while it did not.
  const std::string& failure() const { return failure_; }

  std::size_t size() const { return replicas_.size(); }
  const Replica& replica(std::size_t i) const { return *replicas_[i]; }
  static Host HostOf(const Replica& replica);
  Host HostOf(Process process) const;

  // Faults. Each on a replica that runs, or nothing.

  void Kill(std::size_t i);
  /// All attempts that run there, also abandoned ones.
  void KillHost(std::size_t i);
  void Pause(std::size_t i, Time duration);
  /// As SIGTERM, and SIGKILL when the grace period is over.
  void Stop(std::size_t i);
  /// The next attempt starts while this one goes on, unseen by the executor.
  void Abandon(std::size_t i);

  /// Somebody has the tokens of the attempt that runs, and says to be the next one.
  void StartImpostor(std::size_t i);

  // What a user does.

  /// The job wants so many ps: new ones start, those beyond it are told to stop after `patience`,
  /// whether they were emptied or not. REQUIRES: ps_count_file.
  void Scale(std::uint32_t count, Time patience);
  /// All replicas are told to stop, and none is started until Resume.
  void Suspend();
  void Resume();

  std::uint64_t starts() const { return starts_; }
  /// Of all processes so far.
  std::uint64_t Sum(const StatDefinition& counter) const;

 private:
  void Add(Role role, std::uint32_t count);
  void Launch(Replica& replica);
  void Run(Replica& replica, const RoleContext& context);
  void Identify(const Replica& replica, RoleContext& context);
  void CutOff(const Host& host, Time duration);
  void Ended(Replica& replica, Process process, const Result<int>& outcome);
  void LaunchLater(Replica& replica);
  void End(Process process);
  const PSTrainingJob& JobOf(Role role) const { return role == Role::kChief ? chief_job_ : job_; }

  Scheduler& scheduler_;
  Network& network_;
  const PSTrainingJob& job_;
  const PSTrainingJob& chief_job_;
  const std::string scratch_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::unique_ptr<Replica>> impostors_;
  std::map<Process, Host> hosts_;
  std::set<Process> running_;
  std::vector<std::shared_ptr<StatsWriter>> all_stats_;
  Process next_process_ = 1;
  std::uint64_t starts_ = 0;
  bool finished_ = false;
  bool suspended_ = false;
  std::string failure_;
};

}  // namespace pstrain::simulation
