#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/stats/refusals.h"
#include "tests/runtime/simulation/cluster.h"
#include "tests/runtime/simulation/disk.h"
#include "tests/runtime/simulation/issuer.h"
#include "tests/runtime/simulation/network.h"
#include "tests/runtime/simulation/scheduler.h"
#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {

/// A whole job on simulated time: the product's chief, ps, workers and evaluator with all their
/// threads, their files, a network and a disk that fail as the seed says. Checked:
///
///   at each crash     every checkpoint that the chief had announced can still be read, whole
///   at each restore   it is from the newest checkpoint that was announced and can be seen: nothing
///                     is given up that is not proven damaged
///   at each manifest  nobody has taken over the chief term of who puts it in place
///   at each FINISH    the result is in place
///   always            no shard serves work of another chief's, no ps two chiefs of one term; a ps
///                     has two copies of shards in memory for checkpoints at most; nothing is
///                     granted before all ps know of new variables
///   at the end        the chief has ended with success within kLiveness after the last fault;
///                     result.json: expected == committed == applied, in each shard; the weights of
///                     the final checkpoint are those of the closed form; no final checkpoint
///                     lacked a batch, and none builds on more than fullEvery allows; the evaluator
///                     found each checkpoint that it was told to read; a variable that was
///                     declared while the job trained is there
///
/// One seed of 4 declares a variable, and another one of 4 has closures of a program in phases in
/// place of batches; of these no shard applies what waits for work that it lacks, and a function
/// reads all of the phases before its own. Half of the latter are a program that saves marks, whose
/// next chief has another `main` (marked_program.h, histories.h). One seed of 25 has pauses and
/// cuts of 60 s, and a disk that is full for 600 s.
///
/// REQUIRES: its process runs nothing else, and ends after it (seed_process.h).
class ShellSimulation {
 public:
  /// How long a job may go on after its last fault.
  static constexpr std::chrono::seconds kLiveness{600};

  /// `directory`: empty, of this seed alone. With a `planned` fault the job has two ps, two workers
  /// and an evaluator, and nothing else fails: a job that fails says so in ShellResult::error.
  ShellSimulation(std::uint64_t seed, std::string directory, std::optional<PlannedFault> planned);
  ShellResult Run();

 private:
  Status MakeJob();
  /// What the chief believes of it.
  PSTrainingJob JobOfChief() const;
  void PlanFaults();
  void PlanTheFault();
  void PlanTheFaultAtAMark();
  void HaveTheFault();
  void HaveTheFaultOf(std::size_t i);
  void CutLinks();
  void LoseCallsOfWorkers();
  void DeclareWhileCut();
  void PlanDeclaration();
  void DeclareLate();
  void Fault();
  void FaultOfProcess(std::uint64_t what, std::size_t i);
  void FaultOfProgram(std::size_t i);
  void FaultOfLink(std::size_t i);
  void FaultOfDisk(std::size_t i);
  void PowerLoss(std::size_t i);
  void Scale();
  void SuspendForAWhile();
  /// Has Histories() look at the files of this run.
  void WatchHistories();
  /// The mark can be read, and a chief that starts now sees it.
  bool IsSeen(const CheckpointId& mark);
  /// Nothing newer is there that this chief could know.
  void CheckRestored(const std::string& checkpoint, std::uint64_t chief_term);
  void CheckFinished(const std::string& who);
  void CheckIsChief(Process process);
  /// The checkpoints in place that can be read, whole.
  std::vector<std::string> ReadableCheckpoints();
  void CheckEnd();
  /// Of the input in all epochs, or closures.
  std::int64_t ExamplesExpected() const;
  /// By all processes, for that reason.
  std::uint64_t Refused(RefusalReason reason) const;
  Status CheckResultFile() const;
  Status CheckWeights() const;
  Status CheckDeclared() const;
  Status CheckFinals() const;
  Status CheckChain(CheckpointManifest manifest) const;
  void Violated(const std::string& what);
  Time Seconds(std::uint64_t most) {
    return Time(scheduler_.random().Uniform(most * 1'000'000'000));
  }
  /// How long a fault lasts that begins now: seldom so long that everybody has to notice.
  Time Lasts(std::chrono::seconds seldom);
  std::string RunDirectory() const { return directory_ + "/checkpoints/run"; }

  const std::string directory_;
  /// Some faults outlast what the others wait for.
  const bool long_faults_;
  const bool declares_;
  const std::optional<PlannedFault> planned_;
  Scheduler scheduler_;
  Network network_;
  PSTrainingJob job_;
  PSTrainingJob chief_job_;
  std::int64_t records_ = 0;
  /// Null: replicas show no tokens.
  std::unique_ptr<Issuer> issuer_;
  std::optional<Cluster> cluster_;
  std::optional<Disk> disk_;
  ShellResult result_;
  std::string error_;
  Time last_fault_{0};
  Time chief_started_{0};
};

}  // namespace pstrain::simulation
