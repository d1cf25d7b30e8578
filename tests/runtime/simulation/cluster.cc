#include "tests/runtime/simulation/cluster.h"

#include <fstream>
#include <utility>

#include "base/log.h"
#include "proto/contract/exit_codes.h"
#include "runtime/chief/run_chief.h"
#include "runtime/evaluator/run_evaluator.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/ps/run_ps.h"
#include "runtime/worker/run_worker.h"
#include "tests/runtime/simulation/closures.h"
#include "tests/runtime/simulation/marked_program.h"
#include "tests/runtime/simulation/mutations.h"
#include "tests/runtime/simulation/nature.h"

namespace pstrain::simulation {
namespace {

constexpr std::chrono::seconds kRestart{1};
constexpr std::chrono::seconds kGrace{30};

Result<int> RunRole(Role role, const RoleContext& context, const PSTrainingJob& job) {
  const bool program = NatureOfJob().closures > 0;
  const bool marks = NatureOfJob().marks;
  switch (role) {
    case Role::kChief:
      if (marks) return RunMarkedProgram(context, job);
      return RunChief(context, program ? ClosuresOfChief(job) : ChiefJobOf(job));
    case Role::kPs:
      return RunPs(context, PsJobOf(job));
    case Role::kWorker:
      if (marks) return RunClosures(context, WorkerOfMarkedProgram());
      return program ? RunClosures(context, ClosuresOfWorker())
                     : RunWorker(context, WorkerJobOf(job));
    case Role::kEvaluator:
      return RunEvaluator(context, job.spec().training());
  }
  return InternalError("unknown role");
}

}  // namespace

Cluster::Cluster(Scheduler& scheduler, Network& network, const PSTrainingJob& job,
                 const PSTrainingJob& chief_job, std::string scratch)
    : scheduler_(scheduler),
      network_(network),
      job_(job),
      chief_job_(chief_job),
      scratch_(std::move(scratch)) {
  const auto& specs = job.spec().replica_specs();
  Add(Role::kChief, 1);
  Add(Role::kPs, static_cast<std::uint32_t>(specs.ps().replicas()));
  Add(Role::kWorker, static_cast<std::uint32_t>(specs.worker().replicas()));
  Add(Role::kEvaluator, static_cast<std::uint32_t>(specs.evaluator().replicas()));
}

// As many more as that role lacks.
void Cluster::Add(Role role, std::uint32_t count) {
  std::uint32_t index = 0;
  for (const auto& replica : replicas_) index += replica->role == role ? 1u : 0u;
  for (; index < count; ++index) {
    replicas_.push_back(std::make_unique<Replica>());
    replicas_.back()->role = role;
    replicas_.back()->index = index;
  }
}

void Cluster::Start() {
  for (const auto& replica : replicas_) Launch(*replica);
}

Host Cluster::HostOf(const Replica& replica) {
  return std::string(RoleName(replica.role)) + "-" + std::to_string(replica.index);
}

Host Cluster::HostOf(Process process) const {
  const auto found = hosts_.find(process);
  return found == hosts_.end() ? Host() : found->second;
}

// What a process is given is never destroyed: when it is killed, its threads are left as they are.
void Cluster::Launch(Replica& replica) {
  if (finished_ || suspended_ || replica.surplus || replica.process != 0) return;
  if (on_launch) on_launch(HostOf(replica));
  replica.process = next_process_++;
  replica.stop = std::stop_source();
  replica.stats = StatsWriter::InMemory();
  all_stats_.push_back(replica.stats);
  ++starts_;
  const Host host = HostOf(replica);
  hosts_[replica.process] = host;
  running_.insert(replica.process);
  network_.AddProcess(replica.process, host, replica.role == Role::kChief);
  // The attempt is in the address, because a former one may still serve at its own.
  const std::string address = host + ":" + std::to_string(2000 + replica.attempt);
  auto* context = new RoleContext{.job = *new JobSettings(SettingsOf(JobOf(replica.role))),
                                  .run_id = "run",
                                  .index = replica.index,
                                  .attempt = replica.attempt,
                                  .listen_address = address,
                                  .own_address = address,
                                  .chief_address = "chief:2000",
                                  .scratch = scratch_,
                                  .ps_replicas_file = ps_count_file,
                                  .grace = kGrace,
                                  .stats = *replica.stats,
                                  .fail_points = FailPoints::None(),
                                  .stop = replica.stop.get_token(),
                                  .state_failure = [&replica](std::string_view, const Status& why) {
                                    replica.stated = why.ToString();
                                  }};
  ++replica.attempt;
  scheduler_.Start(replica.process, [this, &replica, context] {
    Identify(replica, *context);
    Run(replica, *context);
  });
}

// By the process itself: what it reads it reads again by its own clock.
void Cluster::Identify(const Replica& replica, RoleContext& context) {
  if (issuer == nullptr) return;
  const Caller said{replica.role, replica.index, context.attempt, 0};
  Caller pod = said;
  pod.attempt = replica.stolen_from.value_or(said.attempt);
  Result<std::unique_ptr<Identity>> identity = OpenIdentity(issuer->SettingsFor(pod, said));
  if (!identity.ok()) return void(failure_ = identity.status().ToString());
  context.identity = identity->release();
}

void Cluster::StartImpostor(std::size_t i) {
  const Replica& robbed = *replicas_[i];
  if (robbed.process == 0) return;
  LogInfo("simulation", "an impostor", {{"host", HostOf(robbed)}});
  Replica& impostor = *impostors_.emplace_back(std::make_unique<Replica>());
  impostor.role = robbed.role;
  impostor.index = robbed.index;
  impostor.attempt = robbed.attempt;
  impostor.stolen_from = robbed.attempt - 1;
  Launch(impostor);
}

void Cluster::Run(Replica& replica, const RoleContext& context) {
  const Process process = scheduler_.process();
  const Result<int> outcome = RunRole(replica.role, context, JobOf(replica.role));
  LogInfo("simulation", "a process has ended",
          {{"host", HostOf(process)},
           {"attempt", context.attempt},
           {"code", outcome.ok() ? *outcome : -1},
           {"error", outcome.status()}});
  Ended(replica, process, outcome);
}

void Cluster::Ended(Replica& replica, Process process, const Result<int>& outcome) {
  End(process);
  if (replica.role == Role::kChief && outcome.ok() && *outcome == kExitSuccess) finished_ = true;
  if (replica.stolen_from) return;
  const bool may_end = outcome.ok() ? *outcome != kExitPermanent : excused(HostOf(process));
  if (!may_end && failure_.empty()) {
    failure_ = HostOf(process) + " failed: " +
               (outcome.ok() ? "exit " + std::to_string(*outcome) + ": " + replica.stated
                             : outcome.status().ToString());
  }
  if (replica.process != process) return;
  replica.process = 0;
  // One that was told that the job is finished does not come back.
  if (!outcome.ok() || *outcome != kExitSuccess) LaunchLater(replica);
}

void Cluster::LaunchLater(Replica& replica) {
  scheduler_.At(scheduler_.now() + kRestart, [this, &replica] { Launch(replica); });
}

void Cluster::Kill(std::size_t i) {
  Replica& replica = *replicas_[i];
  if (replica.process == 0) return;
  const Process process = std::exchange(replica.process, 0);
  LogInfo("simulation", "killed", {{"host", HostOf(process)}});
  End(process);
  LaunchLater(replica);
}

void Cluster::KillHost(std::size_t i) {
  Kill(i);
  const Host host = HostOf(*replicas_[i]);
  const std::set<Process> running = running_;
  for (const Process process : running) {
    if (HostOf(process) == host) End(process);
  }
}

void Cluster::End(Process process) {
  running_.erase(process);
  scheduler_.Kill(process);
  network_.RemoveProcess(process);
}

void Cluster::Pause(std::size_t i, Time duration) {
  const Process process = replicas_[i]->process;
  if (process == 0 || scheduler_.IsPaused(process)) return;
  LogInfo("simulation", "paused", {{"host", HostOf(process)}});
  if (ActiveMutations().pauses_of_chief_count && replicas_[i]->role == Role::kChief) {
    return CutOff(HostOf(process), duration);
  }
  scheduler_.Pause(process);
  scheduler_.At(scheduler_.now() + duration, [this, process] { scheduler_.Resume(process); });
}

// From everybody, in both directions.
void Cluster::CutOff(const Host& host, Time duration) {
  for (const auto& replica : replicas_) {
    const Host other = HostOf(*replica);
    if (other == host) continue;
    for (const auto& [from, to] : {std::pair(host, other), std::pair(other, host)}) {
      network_.Cut(from, to);
      scheduler_.At(scheduler_.now() + duration, [this, from, to] { network_.Repair(from, to); });
    }
  }
}

// A stop's callbacks take locks: it comes from a thread of that process.
void Cluster::Stop(std::size_t i) {
  Replica& replica = *replicas_[i];
  const Process process = replica.process;
  if (process == 0) return;
  LogInfo("simulation", "told to stop", {{"host", HostOf(process)}});
  scheduler_.Start(process, [stop = replica.stop]() mutable { stop.request_stop(); });
  scheduler_.At(scheduler_.now() + kGrace, [this, i, process] {
    if (replicas_[i]->process == process) Kill(i);
  });
}

void Cluster::Abandon(std::size_t i) {
  Replica& replica = *replicas_[i];
  if (replica.process == 0) return;
  LogInfo("simulation", "abandoned", {{"host", HostOf(replica.process)}});
  replica.process = 0;
  LaunchLater(replica);
}

void Cluster::Scale(std::uint32_t count, Time patience) {
  LogInfo("simulation", "scaled", {{"ps", count}});
  std::ofstream(ps_count_file, std::ios::trunc) << count;
  Add(Role::kPs, count);
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    Replica& replica = *replicas_[i];
    if (replica.role != Role::kPs) continue;
    replica.surplus = replica.index >= count;
    if (!replica.surplus) {
      Launch(replica);
      continue;
    }
    scheduler_.At(scheduler_.now() + patience, [this, i] {
      if (replicas_[i]->surplus) Stop(i);
    });
  }
}

void Cluster::Suspend() {
  LogInfo("simulation", "suspended");
  suspended_ = true;
  for (std::size_t i = 0; i < replicas_.size(); ++i) Stop(i);
}

void Cluster::Resume() {
  LogInfo("simulation", "resumed");
  suspended_ = false;
  for (const auto& replica : replicas_) Launch(*replica);
}

std::uint64_t Cluster::Sum(const StatDefinition& counter) const {
  std::uint64_t sum = 0;
  for (const auto& stats : all_stats_) {
    // Not by a Counter: one that was killed while it held the lock keeps it.
    const std::vector<StatReading> readings = stats->page()->Read().value();
    for (const StatReading& reading : readings) {
      if (reading.key == counter.key) sum += reading.bits;
    }
  }
  return sum;
}

}  // namespace pstrain::simulation
