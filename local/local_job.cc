#include "local/local_job.h"

#include <algorithm>
#include <variant>

#include "base/os/files.h"
#include "base/text/json.h"
#include "operator/plan/conditions.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::local {
namespace {

/// Of all kinds of actions only RequeueAt may remain after the second round.
constexpr int kRoundsPerStep = 8;

/// Attempts of one replica share their port, so each waits for the one before.
void ReplaceAfterTermination(ReplicaSpecs& specs) {
  if (specs.has_chief()) specs.mutable_chief()->set_replacement(AfterTermination);
  if (specs.has_ps()) specs.mutable_ps()->set_replacement(AfterTermination);
  if (specs.has_worker()) specs.mutable_worker()->set_replacement(AfterTermination);
  if (specs.has_evaluator()) specs.mutable_evaluator()->set_replacement(AfterTermination);
}

std::string DescribeEnd(const plan::Replica& replica) {
  return replica.signal != 0 ? "signal " + std::to_string(replica.signal)
                             : "exit code " + std::to_string(replica.exit_code);
}

bool OnlyRequeues(const plan::PlanResult& plan) {
  return std::all_of(plan.actions.begin(), plan.actions.end(), [](const plan::Action& action) {
    return std::holds_alternative<plan::RequeueAt>(action);
  });
}

}  // namespace

LocalJob::LocalJob(const Launcher& launcher, const Workspace& workspace, const Clock& clock)
    : launcher_(&launcher),
      workspace_(&workspace),
      clock_(&clock),
      job_(launcher.job()),
      replicas_(launcher, workspace) {
  ReplaceAfterTermination(*job_.mutable_spec()->mutable_replica_specs());
  RunPolicy& policy = *job_.mutable_spec()->mutable_run_policy();
  policy.set_suspend(false);
  job_.clear_status();
  for (const plan::Role role : plan::kRoles) grace_ = std::max(grace_, launcher.Grace(role));
}

plan::Time LocalJob::Now() const {
  return plan::Time(std::chrono::milliseconds(clock_->UnixMillis()));
}

void LocalJob::Suspend() {
  RunPolicy& policy = *job_.mutable_spec()->mutable_run_policy();
  if (!plan::IsFinished(job_.status())) return policy.set_suspend(true);
  // No process outlives the run, not even what this policy has left running.
  const auto stop = [](auto& owner) {
    if (owner.clean_pod_policy() == RunPolicy::None) owner.set_clean_pod_policy(RunPolicy::Running);
  };
  stop(policy);
  ReplicaSpecs& specs = *job_.mutable_spec()->mutable_replica_specs();
  for (ReplicaSpec* spec : {specs.mutable_chief(), specs.mutable_ps(), specs.mutable_worker()}) {
    stop(*spec);
  }
  if (specs.has_evaluator()) stop(*specs.mutable_evaluator());
}

bool LocalJob::Lingers() const {
  const bool leaves_some = std::ranges::any_of(plan::kRoles, [this](plan::Role role) {
    return plan::CleanPodPolicyOf(job_.spec(), role) == RunPolicy::None;
  });
  return leaves_some && plan::IsFinished(job_.status()) && replicas_.AnyAlive();
}

Status LocalJob::Step() {
  const SteadyTime steady_now = clock_->Steady();
  const plan::Time now = Now();
  replicas_.Observe(now, steady_now);
  bool acted = false;
  for (int round = 0; round < kRoundsPerStep; ++round) {
    plan::Snapshot snapshot{.job = job_,
                            .replicas = replicas_.Replicas(),
                            .grace = grace_,
                            // After the session: cli/run_ending.cc.
                            .executor_checks_result = true};
    const plan::PlanResult plan = plan::Plan(snapshot, now);
    NoteCounts(snapshot, plan.status);
    PSTRAIN_RETURN_IF_ERROR(Act(plan, steady_now));
    if (OnlyRequeues(plan)) break;
    acted = true;
  }
  return acted ? WriteEndpoints() : OkStatus();
}

void LocalJob::NoteCounts(const plan::Snapshot& snapshot, const JobStatus& after) {
  const auto& before = job_.status().restarts().replicas();
  const auto& replicas = after.restarts().replicas();
  for (const plan::Replica& replica : snapshot.replicas) {
    const auto now = replicas.find(plan::ReplicaKey(replica.id));
    if (now == replicas.end() || now->second.attempt() != replica.attempt + 1) continue;
    const auto then = before.find(now->first);
    const std::int32_t failures = then == before.end() ? 0 : then->second.failures();
    if (now->second.failures() > failures) crashed_.push_back({replica.id, replica.attempt});
    const bool was_given_up = then != before.end() && then->second.given_up();
    if (now->second.given_up() && !was_given_up) {
      events_.push_back("given up: " +
                        plan::DescribeAttemptEnd(replica.id, now->second.last_end()));
    }
  }
  const Condition* waits = plan::FindCondition(after, "Restarting");
  const Condition* waited = plan::FindCondition(job_.status(), "Restarting");
  const std::string said = waited == nullptr ? "" : waited->message();
  if (waits != nullptr && !waits->message().empty() && waits->message() != said) {
    events_.push_back(waits->message());
  }
}

Status LocalJob::Start(const AttemptId& id) {
  for (const plan::Replica& old : replicas_.Replicas()) {
    if (old.id != id.replica || old.attempt + 1 != id.attempt) continue;
    events_.push_back(plan::ReplicaKey(id.replica) + " ended with " + DescribeEnd(old) +
                      "; attempt " + std::to_string(id.attempt) + " starts");
  }
  return replicas_.Start(id, Now());
}

Status LocalJob::Act(const plan::PlanResult& plan, SteadyTime now) {
  requeue_at_.reset();
  for (const plan::Action& action : plan.actions) {
    if (const auto* set = std::get_if<plan::SetStatus>(&action)) {
      *job_.mutable_status() = set->status;
    } else if (const auto* stop = std::get_if<plan::StopReplica>(&action)) {
      replicas_.Stop({stop->id, stop->attempt}, stop->grace, now);
    } else if (const auto* removal = std::get_if<plan::DeleteReplica>(&action)) {
      replicas_.Delete({removal->id, removal->attempt});
    } else if (const auto* start = std::get_if<plan::StartReplica>(&action)) {
      PSTRAIN_RETURN_IF_ERROR(Start({start->id, start->attempt}));
    } else if (const auto* requeue = std::get_if<plan::RequeueAt>(&action)) {
      requeue_at_ = now + std::max(requeue->time - Now(), std::chrono::milliseconds(1));
    }
  }
  return OkStatus();
}

std::optional<SteadyTime> LocalJob::NextStep() const {
  const std::optional<SteadyTime> kill = replicas_.NextDeadline();
  if (!requeue_at_ || !kill) return requeue_at_ ? requeue_at_ : kill;
  return std::min(*requeue_at_, *kill);
}

std::string LocalJob::FailureText() const {
  for (const Condition& condition : job_.status().conditions()) {
    if (condition.type() == "Failed" && condition.status() == "True") {
      return condition.reason() + ": " + condition.message();
    }
  }
  return {};
}

bool LocalJob::FailedForGood() const {
  if (job_.status().phase() != JobStatus::Failed) return false;
  const std::vector<plan::Replica> replicas = replicas_.Replicas();
  return std::any_of(replicas.begin(), replicas.end(), [this](const plan::Replica& replica) {
    return replica.Ended() && replica.exit_code == kExitPermanent &&
           !plan::IgnoresFailures(job_.spec(), replica.id.role);
  });
}

Status LocalJob::WriteEndpoints() const {
  Json replicas = Json::Array();
  for (const plan::Replica& replica : replicas_.Replicas()) {
    if (replica.Ended()) continue;
    Json entry = Json::Object();
    entry.Set("role", Json::String(std::string(plan::RoleName(replica.id.role))));
    entry.Set("index", Json::Int(replica.id.index));
    entry.Set("attempt", Json::Int(replica.attempt));
    entry.Set("pid", Json::Int(replicas_.AgentPid({replica.id, replica.attempt})));
    const std::string address = launcher_->Address(replica.id);
    if (!address.empty()) entry.Set("address", Json::String(address));
    entry.Set("metrics",
              Json::String("http://127.0.0.1:" +
                           std::to_string(launcher_->MetricsPort(replica.id)) + "/metrics"));
    replicas.Append(std::move(entry));
  }
  Json root = Json::Object();
  root.Set("job", Json::String(job_.metadata().name()));
  root.Set("replicas", std::move(replicas));
  return WriteFileAtomically(workspace_->File("endpoints.json"), WriteJsonPretty(root) + "\n");
}

}  // namespace pstrain::local
