#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "operator/plan/plan.h"
#include "operator/plan/policies.h"
#include "operator/plan/snapshot.h"

namespace pstrain::plan {

/// A job with 1 chief, 2 ps, 3 workers, 1 evaluator, as the manifest reader would hand it over.
PSTrainingJob SimulatedJob(bool own_program);

/// An executor and its cluster in one: carries plans out, lets replicas run, crash, drain and
/// vanish by a seeded generator, and checks after each plan what must hold. The first thing that
/// does not hold stays in violation().
class Simulation {
 public:
  Simulation(std::uint64_t seed, const Policies& policies);

  /// Random events with plans between them, then a fair executor until the job has ended (or is
  /// suspended). Empty when everything held.
  std::string Run();

 private:
  void RandomEvent();
  /// The pods of ended attempts that the status has counted are removed by somebody.
  void ForgetCounted();
  void ReplicaEvent(Replica& replica);
  void Run(Replica& replica);
  void End(Replica& replica, std::int32_t exit_code);
  void NoteCrash(const Replica& replica);
  /// Those whom successPolicy names have exited 0.
  bool WorkDone(const JobStatus& status) const;
  /// An exit 0 of a replica that starts always, and is wanted.
  bool IsCompletion(const Replica& replica, const JobStatus& after) const;
  /// A crash of a worker that its rule of failurePolicy is about, and what that says.
  std::optional<FailureRule::Action> RuledBy(const Replica& replica) const;
  /// By our own account the replica is not to be started again.
  bool IsGivenUp(const std::string& key) const;
  /// A crash whose code restartPolicy ExitCode does not forgive.
  bool IsPermanentCrash(const Replica& replica) const;
  bool IsUnwanted(const Replica& replica, const JobStatus& after) const;
  Time::duration Life(const Replica& replica) const;
  /// Ends that the status counts and the one before did not.
  std::vector<const Replica*> NewlyCounted(const JobStatus& after) const;
  /// Not asked for by the job, and no plain crash; an 85 that nobody asked for is among them.
  bool CountsAsDisruption(const Replica& replica, const JobStatus& after) const;
  /// When the chief last drained or was stopped, as far as the status must know.
  std::optional<Time> ChiefLeft(const JobStatus& after) const;
  bool IsUntoldDrain(const Replica& replica, const JobStatus& after) const;
  bool IsDrainCrash(const Replica& replica, const JobStatus& after) const;
  void AccountDisruptions(const JobStatus& after);
  void Advance(std::int64_t milliseconds) { now_ += std::chrono::milliseconds(milliseconds); }
  /// Plans and acts until only RequeueAt remains; at times the executor dies in the middle.
  void Settle(bool may_die);
  void Apply(const Action& action);
  void Start(const StartReplica& start);
  void Stop(const StopReplica& stop);
  void Delete(const DeleteReplica& removal);
  void Forget(const ForgetReplica& lost);
  /// It stops, on a lost node or for longer than it may.
  bool Lost(const Replica& replica) const;
  void FairRounds();
  void CheckPlan(const PlanResult& plan);
  void CheckSettled();
  void CheckConditions(const JobStatus& before, const JobStatus& after);
  void Expect(bool holds, const std::string& what);
  std::vector<Replica*> At(const ReplicaId& id);

  Rng rng_;
  const Policies* policies_;
  Snapshot snapshot_;
  Time now_;
  Time active_since_;
  /// Our own account of crashes, by place and in all.
  std::map<std::string, int> crashes_;
  std::map<std::string, int> crashes_in_a_row_;
  std::map<std::string, Time> last_crash_;
  int crashes_total_ = 0;
  /// Crashes among them that a rule of failurePolicy takes from the limits.
  std::map<std::string, int> free_crashes_;
  /// The same of disruptions: short lives in a row, and exits 85 that nobody asked for.
  std::map<std::string, int> short_in_a_row_;
  std::map<std::string, Time> last_short_end_;
  std::map<std::string, int> believed_drains_;
  std::optional<Time> chief_left_;
  std::optional<Time> requeue_at_;
  std::string violation_;
  std::uint64_t seed_;
};

}  // namespace pstrain::plan
