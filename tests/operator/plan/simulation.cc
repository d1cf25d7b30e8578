#include "tests/operator/plan/simulation.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <variant>

#include "operator/plan/timestamp.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::plan {
namespace {

constexpr std::int64_t kEpochMillis = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
constexpr int kRandomEvents = 40;
constexpr int kSettleRounds = 10;
constexpr int kFairRounds = 60;
constexpr std::int64_t kDeadlineSeconds = 400;
/// How long replicas other than workers are waited for after their grace period.
constexpr std::chrono::seconds kReplacementTimeout{60};

bool IsRequeue(const Action& action) { return std::holds_alternative<RequeueAt>(action); }

}  // namespace

PSTrainingJob SimulatedJob(bool own_program) {
  PSTrainingJob job;
  job.mutable_metadata()->set_name("sim");
  job.mutable_metadata()->set_generation(1);
  ReplicaSpecs& specs = *job.mutable_spec()->mutable_replica_specs();
  const auto fill = [](ReplicaSpec& spec, int replicas) {
    spec.set_replicas(replicas);
    spec.set_restart_policy(RestartPolicy::OnFailure);
  };
  fill(*specs.mutable_chief(), 1);
  fill(*specs.mutable_ps(), 2);
  fill(*specs.mutable_worker(), 3);
  fill(*specs.mutable_evaluator(), 1);
  job.mutable_spec()->mutable_run_policy()->set_clean_pod_policy(RunPolicy::Running);
  job.mutable_spec()->mutable_run_policy()->set_backoff_limit(6);
  if (!own_program) job.mutable_spec()->mutable_training()->set_batch_size(8);
  return job;
}

Simulation::Simulation(std::uint64_t seed, const Policies& policies)
    : rng_(seed), policies_(&policies), now_(std::chrono::milliseconds(kEpochMillis)), seed_(seed) {
  snapshot_.job = SimulatedJob(rng_.Uniform(2) == 0);
  RunPolicy& policy = *snapshot_.job.mutable_spec()->mutable_run_policy();
  policy.set_backoff_limit(static_cast<std::int32_t>(rng_.Uniform(8)));
  if (rng_.Uniform(3) == 0) policy.set_active_deadline_seconds(kDeadlineSeconds);
  if (rng_.Uniform(3) == 0) policy.set_clean_pod_policy(RunPolicy::All);
  if (rng_.Uniform(4) == 0) {
    snapshot_.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_clean_pod_policy(
        rng_.Uniform(2) == 0 ? RunPolicy::All : RunPolicy::Running);
  }
  if (rng_.Uniform(5) == 0) {
    snapshot_.job.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_restart_policy(
        RestartPolicy::Never);
  }
  ReplicaSpecs& specs = *snapshot_.job.mutable_spec()->mutable_replica_specs();
  if (rng_.Uniform(4) == 0) specs.mutable_worker()->set_restart_policy(RestartPolicy::ExitCode);
  if (!snapshot_.job.spec().has_training() && rng_.Uniform(4) == 0) {
    specs.mutable_chief()->set_replicas(0);
    snapshot_.job.mutable_spec()->set_success_policy(rng_.Uniform(2) == 0 ? JobSpec::AllWorkers
                                                                          : JobSpec::Worker0);
  } else if (!snapshot_.job.spec().has_training() && rng_.Uniform(4) == 0) {
    specs.mutable_worker()->set_restart_policy(RestartPolicy::Always);
  }
  if (rng_.Uniform(4) == 0) policy.set_evaluator_failures(RunPolicy::Ignore);
  if (rng_.Uniform(5) == 0) {
    FailureRule& rule = *specs.mutable_worker()->mutable_failure_policy()->add_rules();
    rule.set_action(
        static_cast<FailureRule::Action>(FailureRule::Ignore + static_cast<int>(rng_.Uniform(4))));
    rule.mutable_on_exit_codes()->set_operator_(ExitCodes::In);
    rule.mutable_on_exit_codes()->add_values(kExitFailure);
  }
  if (rng_.Uniform(8) == 0) {
    specs.mutable_worker()->set_backoff_limit_per_replica(
        static_cast<std::int32_t>(rng_.Uniform(3)));
  }
  specs.mutable_chief()->set_replacement_timeout_seconds(kReplacementTimeout.count());
  specs.mutable_ps()->set_replacement_timeout_seconds(kReplacementTimeout.count());
  active_since_ = now_;
}

bool Simulation::Lost(const Replica& replica) const {
  if (!replica.terminating || replica.Gone()) return false;
  const bool bounded = replica.id.role == Role::kChief || replica.id.role == Role::kPs;
  return replica.node_lost ||
         (bounded && replica.stop_by && now_ >= *replica.stop_by + kReplacementTimeout);
}

void Simulation::Forget(const ForgetReplica& lost) {
  std::erase_if(snapshot_.replicas, [&](const Replica& replica) {
    const bool same = replica.id == lost.id && replica.attempt == lost.attempt;
    if (same) Expect(Lost(replica), "gives a replica up that may still run");
    return same;
  });
}

void Simulation::Expect(bool holds, const std::string& what) {
  if (!holds && violation_.empty()) violation_ = what + " (seed " + std::to_string(seed_) + ")";
}

std::vector<Replica*> Simulation::At(const ReplicaId& id) {
  std::vector<Replica*> found;
  for (Replica& replica : snapshot_.replicas) {
    if (replica.id == id) found.push_back(&replica);
  }
  return found;
}

std::string Simulation::Run() {
  Settle(false);
  for (int i = 0; i < kRandomEvents && violation_.empty(); ++i) {
    RandomEvent();
    Settle(true);
  }
  FairRounds();
  return violation_;
}

void Simulation::RandomEvent() {
  Advance(static_cast<std::int64_t>(rng_.Uniform(30'000)));
  if (rng_.Uniform(40) == 0) Advance(700'000);
  RunPolicy& policy = *snapshot_.job.mutable_spec()->mutable_run_policy();
  const std::uint64_t kind = rng_.Uniform(20);
  if (kind == 0) {
    policy.set_suspend(!policy.suspend());
  } else if (kind == 1 && !WorkDone(snapshot_.job.status())) {
    const auto workers = static_cast<std::int32_t>(1 + rng_.Uniform(4));
    snapshot_.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(workers);
  } else if (kind == 2) {
    ForgetCounted();
  } else if (!snapshot_.replicas.empty()) {
    ReplicaEvent(snapshot_.replicas[rng_.Uniform(snapshot_.replicas.size())]);
  }
}

void Simulation::End(Replica& replica, std::int32_t exit_code) {
  replica.phase = exit_code == 0 ? ReplicaPhase::kSucceeded : ReplicaPhase::kFailed;
  replica.exit_code = exit_code;
  replica.ready = false;
  replica.ended = now_;
  if (replica.id.role == Role::kChief && exit_code == 0) replica.counts = FinalCounts{8, 8, 8, 8};
  // Another container of the pod runs on.
  if (!replica.terminating && rng_.Uniform(4) == 0) replica.rest = Rest::kRuns;
  const bool told = replica.terminating || replica.disruption != Disruption::kNone;
  const bool disrupted = told || IsDisruptionExit(exit_code);
  const bool counts = !IsFinished(snapshot_.job.status()) &&
                      (!WorkDone(snapshot_.job.status()) || replica.id.role == Role::kEvaluator);
  if (exit_code != 0 && !disrupted && counts) NoteCrash(replica);
}

bool Simulation::WorkDone(const JobStatus& status) const {
  const auto succeeded = [&status](const std::string& key) {
    const auto record = status.restarts().replicas().find(key);
    return record != status.restarts().replicas().end() && record->second.succeeded();
  };
  const JobSpec& spec = snapshot_.job.spec();
  if (spec.replica_specs().chief().replicas() == 1) return succeeded("chief-0");
  if (spec.success_policy() == JobSpec::Worker0) return succeeded("worker-0");
  for (std::int32_t i = 0; i < spec.replica_specs().worker().replicas(); ++i) {
    if (!succeeded("worker-" + std::to_string(i))) return false;
  }
  return true;
}

Time::duration Simulation::Life(const Replica& replica) const {
  if (!replica.started || replica.disruption == Disruption::kNotAdmitted) return {};
  return replica.ended.value_or(now_) - *replica.started;
}

void Simulation::NoteCrash(const Replica& replica) {
  const std::string key = ReplicaKey(replica.id);
  const bool healthy = Life(replica) >= std::chrono::seconds(600);
  crashes_in_a_row_[key] = healthy ? 1 : crashes_in_a_row_[key] + 1;
  last_crash_[key] = *replica.ended;
  ++crashes_[key];
  const bool ignored = replica.id.role == Role::kEvaluator &&
                       snapshot_.job.spec().run_policy().evaluator_failures() == RunPolicy::Ignore;
  const auto rule = RuledBy(replica);
  const bool free = rule == FailureRule::Ignore || rule == FailureRule::FailReplica;
  if (free) ++free_crashes_[key];
  if (!ignored && !free) ++crashes_total_;
}

std::optional<FailureRule::Action> Simulation::RuledBy(const Replica& replica) const {
  const ReplicaSpec& workers = snapshot_.job.spec().replica_specs().worker();
  const bool crash = replica.exit_code == kExitFailure && replica.Ended() && !replica.terminating &&
                     replica.disruption == Disruption::kNone;
  if (!crash || replica.id.role != Role::kWorker || !workers.has_failure_policy()) {
    return std::nullopt;
  }
  return workers.failure_policy().rules(0).action();
}

bool Simulation::IsGivenUp(const std::string& key) const {
  const ReplicaSpec& workers = snapshot_.job.spec().replica_specs().worker();
  if (!key.starts_with("worker-")) return false;
  const auto count = [&key](const std::map<std::string, int>& crashes) {
    const auto found = crashes.find(key);
    return found == crashes.end() ? 0 : found->second;
  };
  const bool by_rule = workers.has_failure_policy() && count(free_crashes_) > 0 &&
                       workers.failure_policy().rules(0).action() == FailureRule::FailReplica;
  return by_rule || (workers.has_backoff_limit_per_replica() &&
                     count(crashes_) - count(free_crashes_) > workers.backoff_limit_per_replica());
}

bool Simulation::IsUnwanted(const Replica& replica, const JobStatus& after) const {
  const JobSpec& spec = snapshot_.job.spec();
  return spec.run_policy().suspend() ||
         replica.id.index >= DesiredReplicas(spec, replica.id.role) ||
         (WorkDone(after) && replica.id.role != Role::kEvaluator);
}

bool Simulation::IsCompletion(const Replica& replica, const JobStatus& after) const {
  return replica.phase == ReplicaPhase::kSucceeded && replica.id.role == Role::kWorker &&
         snapshot_.job.spec().replica_specs().worker().restart_policy() == RestartPolicy::Always &&
         !IsUnwanted(replica, after);
}

bool Simulation::IsPermanentCrash(const Replica& replica) const {
  return replica.exit_code == kExitFailure && replica.Ended() && !replica.terminating &&
         replica.disruption == Disruption::kNone && replica.id.role == Role::kWorker &&
         !RuledBy(replica) &&
         snapshot_.job.spec().replica_specs().worker().restart_policy() == RestartPolicy::ExitCode;
}

bool Simulation::CountsAsDisruption(const Replica& replica, const JobStatus& after) const {
  return replica.phase != ReplicaPhase::kSucceeded && !IsUnwanted(replica, after) &&
         (replica.terminating || replica.disruption != Disruption::kNone ||
          IsDisruptionExit(replica.exit_code));
}

std::optional<Time> Simulation::ChiefLeft(const JobStatus& after) const {
  std::optional<Time> left = chief_left_;
  const auto note = [&left](Time when) { left = left ? std::max(*left, when) : when; };
  for (const Replica& replica : snapshot_.replicas) {
    if (replica.id.role != Role::kChief || !replica.Ended()) continue;
    if (replica.exit_code == kExitDrained) note(*replica.ended);
  }
  for (const Replica* replica : NewlyCounted(after)) {
    const bool drains = replica->terminating || replica->disruption != Disruption::kNone ||
                        replica->exit_code == kExitDrained;
    if (replica->id.role == Role::kChief && drains) note(replica->ended.value_or(now_));
  }
  return left;
}

bool Simulation::IsUntoldDrain(const Replica& replica, const JobStatus& after) const {
  if (replica.exit_code != kExitDrained || replica.terminating) return false;
  if (replica.disruption != Disruption::kNone) return false;
  if (replica.id.role == Role::kChief) return true;
  const Replica* newest = nullptr;
  for (const Replica& chief : snapshot_.replicas) {
    if (chief.id.role != Role::kChief) continue;
    if (newest == nullptr || chief.attempt > newest->attempt) newest = &chief;
  }
  if (newest != nullptr && !newest->Ended() && newest->terminating) return false;
  const std::optional<Time> chief_left = ChiefLeft(after);
  if (!chief_left) return true;
  const Time left = std::chrono::ceil<std::chrono::seconds>(*chief_left);
  return *replica.started > left || *replica.ended > left + std::chrono::seconds(60);
}

bool Simulation::IsDrainCrash(const Replica& replica, const JobStatus& after) const {
  if (!CountsAsDisruption(replica, after) || !IsUntoldDrain(replica, after)) return false;
  if (replica.id.role == Role::kChief) return true;
  const auto believed = believed_drains_.find(ReplicaKey(replica.id));
  return believed != believed_drains_.end() && believed->second >= 3;
}

std::vector<const Replica*> Simulation::NewlyCounted(const JobStatus& after) const {
  const auto attempt_in = [](const JobStatus& status, const Replica& replica) {
    const auto record = status.restarts().replicas().find(ReplicaKey(replica.id));
    return record == status.restarts().replicas().end() ? 0 : record->second.attempt();
  };
  std::vector<const Replica*> counted;
  for (const Replica& replica : snapshot_.replicas) {
    if (!replica.Ended() && !replica.terminating) continue;
    if (replica.attempt < attempt_in(snapshot_.job.status(), replica)) continue;
    if (replica.attempt < attempt_in(after, replica)) counted.push_back(&replica);
  }
  return counted;
}

void Simulation::AccountDisruptions(const JobStatus& after) {
  for (const Replica* replica : NewlyCounted(after)) {
    const std::string key = ReplicaKey(replica->id);
    const bool crash = IsDrainCrash(*replica, after);
    const bool untold = IsUntoldDrain(*replica, after);
    if (Life(*replica) >= std::chrono::seconds(600) && !untold) believed_drains_[key] = 0;
    if (Life(*replica) >= std::chrono::seconds(10)) short_in_a_row_[key] = 0;
    if (crash) NoteCrash(*replica);
    if (crash) continue;
    if (!CountsAsDisruption(*replica, after) && !IsCompletion(*replica, after)) continue;
    if (untold) ++believed_drains_[key];
    if (Life(*replica) >= std::chrono::seconds(10)) continue;
    ++short_in_a_row_[key];
    last_short_end_[key] = replica->ended.value_or(now_);
  }
  chief_left_ = ChiefLeft(after);
}

void Simulation::ForgetCounted() {
  std::erase_if(snapshot_.replicas,
                [](const Replica& replica) { return replica.rest == Rest::kStops; });
  std::erase_if(snapshot_.replicas, [&](const Replica& replica) {
    const auto& records = snapshot_.job.status().restarts().replicas();
    const auto record = records.find(ReplicaKey(replica.id));
    return replica.Ended() && record != records.end() && replica.attempt < record->second.attempt();
  });
}

void Simulation::Run(Replica& replica) {
  replica.phase = ReplicaPhase::kRunning;
  replica.ready = true;
  if (!replica.started) replica.started = now_;
}

void Simulation::ReplicaEvent(Replica& replica) {
  if (replica.Ended()) return;
  const std::uint64_t event = rng_.Uniform(12);
  // Only what runs can end by itself.
  if (event == 2 || event == 3 || event == 8 || event == 9) Run(replica);
  switch (event) {
    case 0:
    case 1:
      return Run(replica);
    case 2:
      return End(replica, 1);
    case 3:
      return End(replica, kExitDrained);
    case 4:
      replica.disruption = Disruption::kPreempted;
      return End(replica, 137);
    case 5:
      replica.terminating = true;  // somebody deleted it
      if (!replica.stop_by) replica.stop_by = now_ + snapshot_.grace;
      return;
    case 11:
      replica.node_lost = replica.terminating;
      return;
    case 6:
      if (replica.terminating) End(replica, 143);
      return;
    case 8:
      return End(replica, kExitDisrupted);
    case 9:
      return End(replica, kExitDrained);
    case 10:
      if (replica.started) return;
      replica.disruption = Disruption::kNotAdmitted;
      return End(replica, kExitFailure);
    default:
      if (replica.id.role == Role::kWorker || rng_.Uniform(6) == 0) {
        Run(replica);
        End(replica, 0);
      }
  }
}

void Simulation::Settle(bool may_die) {
  for (int round = 0; round < kSettleRounds && violation_.empty(); ++round) {
    const PlanResult plan = Plan(snapshot_, now_, *policies_);
    CheckPlan(plan);
    const bool done = std::all_of(plan.actions.begin(), plan.actions.end(), IsRequeue);
    requeue_at_.reset();
    const bool dies = may_die && rng_.Uniform(10) == 0;
    const std::size_t upto = dies ? rng_.Uniform(plan.actions.size() + 1) : plan.actions.size();
    for (std::size_t i = 0; i < upto; ++i) Apply(plan.actions[i]);
    if (dies) return;  // another executor continues at the next event
    if (done) return CheckSettled();
  }
  Expect(false, "no fixed point");
}

void Simulation::Apply(const Action& action) {
  if (const auto* set = std::get_if<SetStatus>(&action)) {
    CheckConditions(snapshot_.job.status(), set->status);
    const std::string& start_time = set->status.start_time();
    if (!start_time.empty() && start_time != snapshot_.job.status().start_time()) {
      Expect(start_time == FormatTimestamp(now_), "startTime is not the time of the start");
      active_since_ = now_;
    }
    AccountDisruptions(set->status);
    *snapshot_.job.mutable_status() = set->status;
  } else if (const auto* start = std::get_if<StartReplica>(&action)) {
    Start(*start);
  } else if (const auto* stop = std::get_if<StopReplica>(&action)) {
    Stop(*stop);
  } else if (const auto* removal = std::get_if<DeleteReplica>(&action)) {
    Delete(*removal);
  } else if (const auto* lost = std::get_if<ForgetReplica>(&action)) {
    Forget(*lost);
  } else if (const auto* requeue = std::get_if<RequeueAt>(&action)) {
    requeue_at_ = requeue->time;
    Expect(requeue->time > now_, "requeues in the past");
  }
}

void Simulation::Delete(const DeleteReplica& removal) {
  std::erase_if(snapshot_.replicas, [&](Replica& replica) {
    if (replica.id != removal.id || replica.attempt != removal.attempt) return false;
    Expect(replica.Ended(), "deletes a replica that has not ended");
    Expect(replica.rest != Rest::kStops, "deletes a replica twice");
    if (replica.rest == Rest::kNone) return true;
    replica.terminating = true;
    replica.rest = Rest::kStops;
    return false;
  });
}

void Simulation::Start(const StartReplica& start) {
  const bool waits = ReplacesAfterTermination(snapshot_.job.spec(), start.id.role);
  const std::string key = ReplicaKey(start.id);
  for (const Replica* other : At(start.id)) {
    Expect(!other->Live(), "two live replicas of " + key);
    Expect(!waits || other->Gone() || Lost(*other), "does not wait for the old " + key);
    Expect(other->attempt < start.attempt, "attempt used twice: " + key);
  }
  Expect(start.id.index < DesiredReplicas(snapshot_.job.spec(), start.id.role),
         "starts an unwanted " + key);
  Expect(!snapshot_.job.spec().run_policy().suspend(), "starts in a suspended job");
  Expect(!IsGivenUp(key), "starts a given up " + key);
  const int in_a_row = crashes_in_a_row_[key];
  if (in_a_row >= 2) {
    const std::int64_t wait = std::min<std::int64_t>(300, std::int64_t{1} << (in_a_row - 2));
    Expect(now_ - last_crash_[key] >= std::chrono::seconds(wait), "does not wait: " + key);
  }
  if (const int short_lives = short_in_a_row_[key]; short_lives > 0) {
    const std::int64_t wait = std::min<std::int64_t>(300, std::int64_t{1} << (short_lives - 1));
    Expect(now_ - last_short_end_[key] >= std::chrono::seconds(wait),
           "starts before the restart delay: " + key);
  }
  Replica replica;
  replica.id = start.id;
  replica.attempt = start.attempt;
  snapshot_.replicas.push_back(replica);
}

void Simulation::Stop(const StopReplica& stop) {
  const JobSpec& spec = snapshot_.job.spec();
  const bool unwanted = stop.id.index >= DesiredReplicas(spec, stop.id.role);
  Expect(unwanted || spec.run_policy().suspend() || IsFinished(snapshot_.job.status()),
         "stops a wanted " + ReplicaKey(stop.id));
  if (spec.run_policy().suspend() && !IsFinished(snapshot_.job.status()) &&
      stop.id.role != Role::kChief) {
    for (const Replica* chief : At({Role::kChief, 0})) {
      Expect(chief->Ended() || Lost(*chief), "suspends others before the chief has drained");
    }
  }
  for (Replica* replica : At(stop.id)) {
    if (replica->attempt != stop.attempt) continue;
    replica->terminating = true;
    if (!replica->stop_by) replica->stop_by = now_ + stop.grace;
  }
}

void Simulation::FairRounds() {
  const auto done = [&] {
    const bool alive = std::any_of(snapshot_.replicas.begin(), snapshot_.replicas.end(),
                                   [](const Replica& replica) { return !replica.Gone(); });
    return !alive && (IsFinished(snapshot_.job.status()) ||
                      snapshot_.job.status().phase() == JobStatus::Suspended);
  };
  const bool chiefless = snapshot_.job.spec().replica_specs().chief().replicas() == 0;
  for (int round = 0; round < kFairRounds && violation_.empty(); ++round) {
    if (done()) return;
    Advance(1000);
    std::erase_if(snapshot_.replicas,
                  [](const Replica& replica) { return replica.rest == Rest::kStops; });
    if (requeue_at_ && snapshot_.job.status().phase() != JobStatus::Running) {
      now_ = std::max(now_, *requeue_at_);
    }
    // A fair executor: who was told to go has gone, who waits to start starts, who runs finishes.
    for (Replica& replica : snapshot_.replicas) {
      if (replica.Ended()) continue;
      if (replica.terminating) {
        End(replica, kExitDrained);
      } else if (replica.phase == ReplicaPhase::kPending) {
        Run(replica);
      } else if (replica.id.role == Role::kChief || replica.id.role == Role::kEvaluator ||
                 (chiefless && replica.id.role == Role::kWorker)) {
        End(replica, 0);
      }
    }
    Settle(false);
    if (round > 20 && requeue_at_) now_ = std::max(now_, *requeue_at_);
  }
  Expect(done(), "does not end");
}

void Simulation::CheckPlan(const PlanResult& plan) {
  const Restarts& before = snapshot_.job.status().restarts();
  const Restarts& after = plan.status.restarts();
  Expect(after.failures() >= before.failures(), "a count went down");
  const auto sum = [](const Restarts& restarts) {
    int ends = 0;
    for (const auto& [key, record] : restarts.replicas()) {
      ends += record.failures() + record.disruptions();
    }
    return ends;
  };
  Expect(sum(after) - sum(before) == static_cast<int>(plan.ends.size()),
         "an end is counted and not told");
  int drain_crashes = 0;
  bool permanent = false;
  bool fails_job = false;
  for (const Replica* replica : NewlyCounted(plan.status)) {
    fails_job |= RuledBy(*replica) == FailureRule::FailJob && !WorkDone(plan.status);
    permanent |= IsPermanentCrash(*replica) && !WorkDone(plan.status);
    drain_crashes += IsDrainCrash(*replica, plan.status) ? 1 : 0;
  }
  Expect(after.failures() <= crashes_total_ + drain_crashes, "counts more crashes than there were");
  for (const auto& [key, record] : before.replicas()) {
    const auto now = after.replicas().find(key);
    const bool kept = now != after.replicas().end() &&
                      now->second.failures() >= record.failures() &&
                      now->second.attempt() >= record.attempt();
    Expect(kept, "lost the counts of " + key);
  }
  const bool was_finished = IsFinished(snapshot_.job.status());
  Expect(!permanent || IsFinished(plan.status), "goes on after a permanent exit code");
  Expect(!fails_job || IsFinished(plan.status), "goes on after a rule that fails the job");
  Expect(!was_finished || plan.status.phase() == snapshot_.job.status().phase(),
         "a finished job changed its mind");
  if (!was_finished && plan.status.phase() == JobStatus::Succeeded) {
    Expect(WorkDone(plan.status), "succeeds without those whom successPolicy names");
  }
  if (was_finished || plan.status.phase() != JobStatus::Failed) return;
  const RunPolicy& policy = snapshot_.job.spec().run_policy();
  const auto never = after.replicas().find("ps-0");
  const auto never_1 = after.replicas().find("ps-1");
  const int ps_failures = (never == after.replicas().end() ? 0 : never->second.failures()) +
                          (never_1 == after.replicas().end() ? 0 : never_1->second.failures());
  const bool never_broken =
      snapshot_.job.spec().replica_specs().ps().restart_policy() == RestartPolicy::Never &&
      ps_failures > 0;
  const bool too_late =
      policy.has_active_deadline_seconds() &&
      now_ - active_since_ >= std::chrono::seconds(policy.active_deadline_seconds() - 1);
  const bool given_up =
      std::any_of(after.replicas().begin(), after.replicas().end(), [](const auto& entry) {
        return entry.first.starts_with("worker-") && entry.second.given_up();
      });
  Expect(after.failures() > policy.backoff_limit() || never_broken || too_late || permanent ||
             fails_job || given_up,
         "fails without a reason");
}

void Simulation::CheckConditions(const JobStatus& before, const JobStatus& after) {
  for (const Condition& condition : after.conditions()) {
    for (const Condition& old : before.conditions()) {
      if (old.type() != condition.type()) continue;
      const bool moved = old.last_transition_time() != condition.last_transition_time();
      Expect(!moved || old.status() != condition.status(), "transition time moved without cause");
      Expect(old.status() == condition.status() ||
                 condition.last_transition_time() == FormatTimestamp(now_),
             "transition time is not the time of the change");
    }
  }
  const auto value = [&](const char* type) {
    for (const Condition& condition : after.conditions()) {
      if (condition.type() == type) return condition.status();
    }
    return std::string("absent");
  };
  Expect(value("Succeeded") == (after.phase() == JobStatus::Succeeded ? "True" : "False"),
         "condition Succeeded is " + value("Succeeded"));
  Expect(value("Failed") == (after.phase() == JobStatus::Failed ? "True" : "False"),
         "condition Failed is " + value("Failed"));
  Expect(value("Suspended") == (after.phase() == JobStatus::Suspended ? "True" : "False"),
         "condition Suspended is " + value("Suspended"));
}

void Simulation::CheckSettled() {
  const JobStatus& status = snapshot_.job.status();
  const JobSpec& spec = snapshot_.job.spec();
  std::map<ReplicaId, int> live;
  std::map<ReplicaId, int> alive;
  std::map<ReplicaId, int> ended;
  for (const Replica& replica : snapshot_.replicas) {
    Expect(!Lost(replica), "waits for a lost " + ReplicaKey(replica.id));
    Expect(replica.rest != Rest::kRuns, "leaves the rest of " + ReplicaKey(replica.id));
    ++(replica.Gone() ? ended : alive)[replica.id];
    if (replica.Live()) ++live[replica.id];
  }
  if (IsFinished(status)) {
    Expect(live.empty(), "a finished job has live replicas");
    for (const auto& [id, count] : ended) {
      Expect(CleanPodPolicyOf(spec, id.role) != RunPolicy::All,
             "cleanPodPolicy All left " + ReplicaKey(id));
    }
    return;
  }
  for (const auto& [id, count] : ended) {
    Expect(count <= 1, "ended attempts pile up: " + ReplicaKey(id));
  }
  const auto record_of = [&](const ReplicaId& id) {
    const auto found = status.restarts().replicas().find(ReplicaKey(id));
    return found == status.restarts().replicas().end() ? ReplicaRestarts() : found->second;
  };
  const bool work_done = WorkDone(status);
  // A crash that is seen only after that success no longer matters.
  Expect(work_done || status.restarts().failures() == crashes_total_, "lost a crash");
  Expect(status.restarts().failures() <= spec.run_policy().backoff_limit(), "passes backoffLimit");
  for (const auto& [key, record] : status.restarts().replicas()) {
    Expect(work_done || record.failures() == crashes_[key], "wrong count of " + key);
    Expect(spec.replica_specs().ps().restart_policy() != RestartPolicy::Never ||
               !key.starts_with("ps-") || record.failures() == 0,
           "restartPolicy Never is not kept");
    Expect(spec.replica_specs().worker().restart_policy() != RestartPolicy::Always ||
               !key.starts_with("worker-") || !record.succeeded(),
           "restartPolicy Always is not kept");
    Expect(!record.given_up() || (key == "evaluator-0" && work_done) || IsGivenUp(key),
           "gives up " + key);
    Expect(work_done || record.given_up() || !IsGivenUp(key), "does not give up " + key);
  }
  Expect(!work_done || !spec.has_training(), "the success is not seen");
  if (spec.run_policy().suspend()) {
    Expect(status.phase() == JobStatus::Suspended || !alive.empty(), "not Suspended");
    Expect(!live.contains({Role::kChief, 0}), "suspended chief lives");
    return Expect(alive.contains({Role::kChief, 0}) || live.empty(), "suspended replicas live");
  }
  if (spec.run_policy().has_active_deadline_seconds()) {
    Expect(now_ - active_since_ <= std::chrono::seconds(kDeadlineSeconds), "deadline is passed");
  }
  for (const auto& [id, count] : live) {
    Expect(count == 1, "two live replicas");
    Expect(id.index < DesiredReplicas(spec, id.role), "lives unwanted");
  }
  for (const Role role : kRoles) {
    if (work_done && role != Role::kEvaluator) continue;
    for (std::int32_t i = 0; i < DesiredReplicas(spec, role); ++i) {
      const ReplicaId id{role, i};
      const bool waits = ReplacesAfterTermination(spec, role) && alive.contains(id);
      Expect(live.contains(id) || record_of(id).succeeded() || record_of(id).given_up() || waits ||
                 requeue_at_.has_value(),
             "lost " + ReplicaKey(id));
    }
  }
}

}  // namespace pstrain::plan
