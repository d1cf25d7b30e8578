#include "tests/runtime/simulation/shell_simulation.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/os/files.h"
#include "base/seconds.h"
#include "proto/job/job_manifest.h"
#include "runtime/stats/chief_names.h"
#include "runtime/stats/names.h"
#include "tests/runtime/simulation/mutated_messages.h"

namespace pstrain::simulation {
namespace {

constexpr std::uint64_t kMostFaults = 12;
/// Faults begin within one of these times; the longest goes on for kLongestFault.
constexpr std::uint64_t kFaultSeconds[] = {5, 20, 60};
constexpr std::uint64_t kLongestFault = 25;
/// One seed of so many has faults that go on for longer, one fault of so many.
constexpr std::uint64_t kLongFaultSeeds = 25;
constexpr std::uint64_t kLongFaults = 2;
constexpr std::chrono::seconds kLongPause{60};
constexpr std::chrono::seconds kLongCut{60};
constexpr std::chrono::seconds kLongFullDisk{600};
/// A job with a planned fault: how long it takes to get to that, and what is left then.
constexpr std::int64_t kPlannedRecords = 4000;
/// Longer than any simulation.
constexpr std::int32_t kForEver = 1'000'000;
constexpr std::int32_t kForEverSeconds = kForEver;
/// Of the number of ps that a job is scaled to.
constexpr std::uint64_t kMostPs = 4;
/// One seed of so many declares a variable while its job trains.
constexpr std::uint64_t kDeclaringSeeds = 4;
/// One seed of so many, which declares none, has closures, and how many they are.
constexpr std::uint64_t kProgramSeeds = 4;
/// Of these, every second one saves marks instead.
constexpr std::uint64_t kMarkSeeds = 2 * kProgramSeeds;
constexpr std::uint64_t kLeastClosures = 40;
constexpr std::uint64_t kMoreClosures = 200;

}  // namespace

ShellSimulation::ShellSimulation(std::uint64_t seed, std::string directory,
                                 std::optional<PlannedFault> planned)
    : directory_(std::move(directory)),
      long_faults_(!planned && seed % kLongFaultSeeds == 0),
      declares_(!planned && seed % kDeclaringSeeds == 0),
      planned_(std::move(planned)),
      scheduler_(seed),
      network_(scheduler_) {
  Network::SetRunning(&network_);
}

void ShellSimulation::Violated(const std::string& what) {
  if (!error_.empty()) return;
  error_ = "at " + std::to_string(InSeconds(scheduler_.now())) + " s: " + what;
  LogError("simulation", "violated", {{"what", error_}});
}

Status ShellSimulation::MakeJob() {
  Rng& random = scheduler_.random();
  const auto number = [&random](std::uint64_t least, std::uint64_t most) {
    return std::to_string(least + random.Uniform(most - least + 1));
  };
  records_ = planned_ ? kPlannedRecords : static_cast<std::int64_t>(100 + random.Uniform(900));
  const auto replicas = [&](std::uint64_t most) { return planned_ ? "2" : number(1, most); };
  std::string data;
  for (std::int64_t i = 0; i < records_; ++i) {
    data += std::to_string(i % 2) + "," + std::to_string(i * 7919 % 10007) + "\n";
  }
  PSTRAIN_RETURN_IF_ERROR(WriteFileAtomically(directory_ + "/data.csv", data));
  const std::string csv =
      "{csv: {files: [" + directory_ + "/data.csv], columns: [label, key], labelColumn: label}}";
  // A program has no evaluator.
  const bool evaluated = !NatureOfJob().marks && (planned_ || random.Uniform(2) == 0);
  std::string text =
      "apiVersion: pstrain.dev/v1alpha1\n"
      "kind: PSTrainingJob\n"
      "metadata: {name: simulated}\n"
      "spec:\n"
      "  strategy: {shards: " +
      (planned_ ? "4" : number(1, 5)) +
      "}\n"
      "  replicaSpecs:\n"
      "    ps: {replicas: " +
      replicas(3) +
      "}\n"
      "    worker: {replicas: " +
      (planned_ ? std::to_string(planned_->workers) : number(1, 3)) + "}\n" +
      (evaluated ? "    evaluator: {replicas: 1}\n" : "") +
      "  training:\n"
      "    model: {constantGradient: {denseSize: 16, tableRows: 32}}\n"
      "    input: " +
      csv +
      "\n"
      "    optimizer: {sgd: {learningRate: " +
      (planned_ ? planned_->learning_rate : "0.5") +
      "}}\n"
      "    batchSize: " +
      number(4, 16) +
      "\n"
      "    blockSize: 64\n"
      "    epochs: " +
      number(1, 4) +
      "\n"
      "    seed: " +
      number(1, 1000) +
      "\n"
      // A chief that is started while the disk is full waits for it.
      "    peerTimeoutSeconds: " +
      std::to_string(planned_       ? kPlannedPatience.count()
                     : long_faults_ ? 1000
                                    : 400) +
      "\n"
      "    rejoinTimeoutSeconds: " +
      number(1, 10) + "\n" +
      (evaluated ? "    evaluation: {input: " + csv + ", deadlineSeconds: 30}\n" : "") +
      "    checkpoint: {directory: " + directory_ + "/checkpoints, everySteps: " + number(3, 40) +
      ", fullEvery: " + number(1, 5) + ", keep: " + number(2, 4) + "}\n";
  PSTRAIN_ASSIGN_OR_RETURN(job_, ReadJobManifest(text, {.allow_test_only = true}));
  chief_job_ = JobOfChief();
  return OkStatus();
}

PSTrainingJob ShellSimulation::JobOfChief() const {
  PSTrainingJob job = job_;
  Training& training = *job.mutable_spec()->mutable_training();
  if (ActiveMutations().chief_waits_for_ever) training.set_peer_timeout_seconds(kForEverSeconds);
  if (ActiveMutations().evaluation_has_no_deadline) {
    training.mutable_evaluation()->set_deadline_seconds(kForEverSeconds);
  }
  if (ActiveMutations().chains_are_endless) {
    training.mutable_checkpoint()->set_full_every(kForEver);
  }
  return job;
}

ShellResult ShellSimulation::Run() {
  if (const Status made = MakeJob(); !made.ok()) {
    Violated("no job: " + made.ToString());
  } else {
    cluster_.emplace(scheduler_, network_, job_, chief_job_, directory_ + "/scratch");
    if (planned_ && planned_->identified) {
      issuer_ = std::make_unique<Issuer>(scheduler_, directory_ + "/identity", "simulated");
      cluster_->issuer = issuer_.get();
    }
    disk_.emplace(scheduler_, [this](Process process) { return cluster_->HostOf(process); });
    disk_->is_elsewhere = [this](const std::string& path) {
      return issuer_ != nullptr && issuer_->Has(path);
    };
    disk_->on_manifest = [this](Process process) { CheckIsChief(process); };
    disk_->files_not_synced = ActiveMutations().shards_not_synced;
    disk_->folders_not_synced = ActiveMutations().folders_not_synced;
    disk_->chief_terms_unseen = ActiveMutations().later_chiefs_are_unseen;
    disk_->newest_not_noted = ActiveMutations().newest_is_not_noted;
    disk_->misreads = [](const Host& host, const std::string& path) {
      return ActiveMutations().damage_is_believed && host.starts_with("chief") &&
             path.find("/shard-") != std::string::npos &&
             std::exchange(Observed().damage_claimed, false);
    };
    if (scheduler_.Chance(3)) cluster_->ps_count_file = directory_ + "/ps-replicas";
    cluster_->on_launch = [this](const Host& host) {
      if (host == "chief-0") chief_started_ = scheduler_.now();
      const bool returns = planned_ && result_.faults > 0 && host == planned_->stopped;
      if (returns && planned_->cut_at_return) CutLinks();
      if (scheduler_.Chance(2)) disk_->Move(host);
    };
    cluster_->excused = [this](const Host& host) { return disk_->FailedRecently(host); };
    Observed().examples_expected = ExamplesExpected();
    Observed().on_restore = [this](const std::string& checkpoint, std::uint64_t chief_term) {
      CheckRestored(checkpoint, chief_term);
    };
    Observed().on_finish = [this](const std::string& who) { CheckFinished(who); };
    Observed().on_violation = [this](const std::string& what) { Violated(what); };
    WatchHistories();
    PlanFaults();
    if (declares_) PlanDeclaration();
    cluster_->Start();
    scheduler_.Run([this] {
      return cluster_->finished() || !cluster_->failure().empty() || !error_.empty() ||
             scheduler_.now() > last_fault_ + kLiveness;
    });
    CheckEnd();
  }
  const std::size_t length = std::min(error_.size(), sizeof(result_.error) - 1);
  std::memcpy(result_.error, error_.data(), length);
  return result_;
}

// A third of the seeds have no faults but the weather.
void ShellSimulation::PlanFaults() {
  Rng& random = scheduler_.random();
  if (planned_) return PlanTheFault();
  network_.weather.longest = std::chrono::milliseconds(5 + random.Uniform(150));
  disk_->longest = std::chrono::milliseconds(random.Uniform(20));
  disk_->longest_of_evaluator =
      disk_->longest + Time(std::chrono::milliseconds(random.Uniform(3000)));
  if (random.Uniform(4) == 0) disk_->stale = Seconds(60);
  const std::uint64_t faults = random.Uniform(3) == 0 ? 0 : 1 + random.Uniform(kMostFaults);
  if (faults > 0 && random.Uniform(2) == 0) {
    network_.weather.lost_one_in = 20 + random.Uniform(400);
    network_.weather.doubled_one_in = 20 + random.Uniform(400);
    network_.weather.late_one_in = 20 + random.Uniform(400);
  }
  const std::uint64_t within = kFaultSeconds[random.Uniform(std::size(kFaultSeconds))];
  for (std::uint64_t i = 0; i < faults; ++i) {
    const Time when = Seconds(within);
    last_fault_ = std::max<Time>(last_fault_, when + std::chrono::seconds(kLongestFault));
    scheduler_.At(when, [this] { Fault(); });
  }
  // The weather clears with the last fault that does not outlast all others.
  scheduler_.At(last_fault_, [this] {
    network_.weather.lost_one_in = 0;
    network_.weather.doubled_one_in = 0;
    network_.weather.late_one_in = 0;
  });
}

void ShellSimulation::Fault() {
  ++result_.faults;
  Rng& random = scheduler_.random();
  const std::size_t i = random.Uniform(cluster_->size());
  if (NatureOfJob().marks && scheduler_.Chance(2)) return FaultOfProgram(i);
  const std::uint64_t what = random.Uniform(23);
  if (what < 9) return FaultOfProcess(what, i);
  if (what < 13) return FaultOfLink(i);
  if (what < 17) return FaultOfDisk(i);
  if (what < 18) return PowerLoss(i);
  if (what < 19) {
    PowerLoss(i);
    return FaultOfDisk(i);
  }
  if (what < 20) {
    for (std::size_t all = 0; all < cluster_->size(); ++all) PowerLoss(all);
    return;
  }
  if (what < 22) return Scale();
  SuspendForAWhile();
}

void ShellSimulation::Scale() {
  if (cluster_->ps_count_file.empty()) return;
  const auto count = static_cast<std::uint32_t>(1 + scheduler_.random().Uniform(kMostPs));
  cluster_->Scale(count, Seconds(kLongestFault));
}

// Also with another number of ps.
void ShellSimulation::SuspendForAWhile() {
  cluster_->Suspend();
  if (scheduler_.Chance(2)) Scale();
  scheduler_.At(scheduler_.now() + Seconds(kLongestFault), [this] { cluster_->Resume(); });
}

// The last fault ends when it does.
Time ShellSimulation::Lasts(std::chrono::seconds seldom) {
  if (!long_faults_ || !scheduler_.Chance(kLongFaults)) return Seconds(kLongestFault);
  ++result_.long_faults;
  last_fault_ = std::max<Time>(last_fault_, scheduler_.now() + seldom);
  return seldom;
}

void ShellSimulation::FaultOfProcess(std::uint64_t what, std::size_t i) {
  if (what < 3) return cluster_->Kill(i);
  if (what < 5) return cluster_->Pause(i, Lasts(kLongPause));
  if (what < 6) return cluster_->Abandon(i);
  if (what < 7) return cluster_->Kill(0);
  if (what < 8) {
    cluster_->Kill(0);
    return cluster_->Kill(i);
  }
  cluster_->Stop(i);
}

// Of its chief, alone or with another replica.
void ShellSimulation::FaultOfProgram(std::size_t i) {
  switch (scheduler_.random().Uniform(5)) {
    case 0:
      return PowerLoss(0);
    case 1:
      return cluster_->Abandon(0);
    case 2:
      cluster_->Kill(i);
      return cluster_->Kill(0);
    case 3:
      cluster_->Pause(i, Lasts(kLongPause));
      return cluster_->Kill(0);
    default:
      return cluster_->Kill(0);
  }
}

// One direction or both, between two replicas.
void ShellSimulation::FaultOfLink(std::size_t i) {
  const std::size_t j =
      (i + 1 + scheduler_.random().Uniform(cluster_->size() - 1)) % cluster_->size();
  const Host a = Cluster::HostOf(cluster_->replica(i));
  const Host b = Cluster::HostOf(cluster_->replica(j));
  const bool both = scheduler_.Chance(2);
  LogInfo("simulation", "cut", {{"from", a}, {"to", b}, {"both", both}});
  network_.Cut(a, b);
  if (both) network_.Cut(b, a);
  scheduler_.At(scheduler_.now() + Lasts(kLongCut), [this, a, b, both] {
    network_.Repair(a, b);
    if (both) network_.Repair(b, a);
  });
}

void ShellSimulation::FaultOfDisk(std::size_t i) {
  const Host host = Cluster::HostOf(cluster_->replica(i));
  Time until = scheduler_.now() + Seconds(kLongestFault);
  const std::uint64_t what = scheduler_.random().Uniform(4);
  if (what == 3 && long_faults_) until = scheduler_.now() + Lasts(kLongFullDisk);
  LogInfo("simulation", "the disk fails",
          {{"host", host}, {"how", what}, {"seconds", InSeconds(until - scheduler_.now())}});
  if (what == 0) return disk_->Hang(host, until);
  const int errors[] = {EIO, ESTALE, ENOSPC};
  const bool full = what == 3;
  const Disk::Fault fault{.until = until,
                          .error_number = errors[what - 1],
                          .one_in = full ? 1 : 1 + scheduler_.random().Uniform(8),
                          .writing_only = full};
  if (!full) return disk_->Fail(host, fault);
  for (std::size_t all = 0; all < cluster_->size(); ++all) {
    disk_->Fail(Cluster::HostOf(cluster_->replica(all)), fault);
  }
}

void ShellSimulation::PowerLoss(std::size_t i) {
  const Host host = Cluster::HostOf(cluster_->replica(i));
  const std::vector<std::string> before = ReadableCheckpoints();
  LogInfo("simulation", "power loss", {{"host", host}});
  cluster_->KillHost(i);
  disk_->Crash(host);
  const std::vector<std::string> after = ReadableCheckpoints();
  for (const std::string& checkpoint : before) {
    if (std::ranges::count(after, checkpoint) > 0) continue;
    Violated("the power loss of " + host + " has damaged " + checkpoint + ", which was in place");
  }
}

ShellResult RunShellSimulation(std::uint64_t seed, const std::string& directory,
                               const Mutations& mutations,
                               const std::optional<PlannedFault>& planned) {
  ActiveMutations() = mutations;
  if (planned) {
    NatureOfJob() = planned->nature;
  } else if (seed % kMarkSeeds == kMarkSeeds - kProgramSeeds / 2) {
    NatureOfJob().marks = true;
  } else if (seed % kProgramSeeds == kProgramSeeds / 2) {
    NatureOfJob().closures = kLeastClosures + seed * 7919 % kMoreClosures;
  }
  return (new ShellSimulation(seed, directory, planned))->Run();
}

}  // namespace pstrain::simulation
