// What a rule of failurePolicy and a limit of the replica's own make of an end.
#include "operator/plan/ends/failure_rules.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "operator/plan/conditions.h"
#include "operator/plan/plan.h"
#include "proto/contract/exit_codes.h"
#include "tests/operator/plan/snapshots.h"

namespace pstrain::plan {
namespace {

FailureRule Rule(FailureRule::Action action) {
  FailureRule rule;
  rule.set_action(action);
  return rule;
}
FailureRule OnCodes(FailureRule::Action action, ExitCodes::Operator how,
                    std::initializer_list<std::int32_t> codes) {
  FailureRule rule = Rule(action);
  rule.mutable_on_exit_codes()->set_operator_(how);
  for (const std::int32_t code : codes) rule.mutable_on_exit_codes()->add_values(code);
  return rule;
}
FailureRule OnReason(FailureRule::Action action, const std::string& reason) {
  FailureRule rule = Rule(action);
  rule.add_on_reasons(reason);
  return rule;
}
FailureRule OnCondition(FailureRule::Action action, const std::string& type) {
  FailureRule rule = Rule(action);
  rule.add_on_pod_conditions()->set_type(type);
  rule.mutable_on_pod_conditions(0)->set_status("True");
  return rule;
}

/// An own program without evaluator whose worker 0 is as given, with these rules of the workers.
Snapshot Ruled(const Replica& worker, std::initializer_list<FailureRule> rules) {
  Snapshot snapshot = With(worker, /*own_program=*/true);
  ReplicaSpecs& specs = *snapshot.job.mutable_spec()->mutable_replica_specs();
  specs.mutable_evaluator()->set_replicas(0);
  snapshot.replicas.pop_back();
  for (const FailureRule& rule : rules) {
    *specs.mutable_worker()->mutable_failure_policy()->add_rules() = rule;
  }
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(0);
  return snapshot;
}

Replica Crashed(std::int32_t code, std::int32_t index = 0) {
  return Ended(Running(Role::kWorker, index), code);
}
Replica Preempted() {
  Replica worker = Crashed(137);
  worker.disruption = Disruption::kPreempted;
  worker.reason = "PreemptionByScheduler";
  worker.conditions = {{"DisruptionTarget", "True"}};
  return worker;
}
const ReplicaRestarts& RecordOf(const PlanResult& plan, const std::string& key = "worker-0") {
  return plan.status.restarts().replicas().at(key);
}
std::string FailedBy(const PlanResult& plan) {
  if (plan.status.phase() != JobStatus::Failed) return "";
  const Condition* failed = FindCondition(plan.status, "Failed");
  return failed->reason() + ": " + failed->message();
}

TEST(FailureRules, OfExitCodes_AskWhetherTheCodeIsAmongThem) {
  const auto in = OnCodes(FailureRule::Ignore, ExitCodes::In, {3, 42});
  const auto not_in = OnCodes(FailureRule::Ignore, ExitCodes::NotIn, {3, 42});
  for (const std::int32_t code : {1, 3, 42, 137}) {
    const bool among = code == 3 || code == 42;
    EXPECT_EQ(RulingOf(Ruled(Crashed(code), {in}).job.spec(), Crashed(code), true).has_value(),
              among);
    EXPECT_EQ(RulingOf(Ruled(Crashed(code), {not_in}).job.spec(), Crashed(code), true).has_value(),
              !among);
  }
  // A code that nobody saw, one whose meaning is fixed, and one of a pod that was killed.
  for (const std::int32_t code : {kExitDrained, kExitDisrupted, kExitPermanent}) {
    EXPECT_FALSE(RulingOf(Ruled(Crashed(code), {not_in}).job.spec(), Crashed(code), true));
  }
  Replica unseen = Crashed(1);
  unseen.exit_code = 0;
  EXPECT_FALSE(RulingOf(Ruled(unseen, {not_in}).job.spec(), unseen, true));
  EXPECT_FALSE(RulingOf(Ruled(Preempted(), {not_in}).job.spec(), Preempted(), false));
}

TEST(FailureRules, OfConditionsAndReasons_AskWhatTheExecutorSays) {
  const auto holds = [](const FailureRule& rule, const Replica& replica, bool crash) {
    return RulingOf(Ruled(replica, {rule}).job.spec(), replica, crash).has_value();
  };
  const auto condition = OnCondition(FailureRule::Ignore, "DisruptionTarget");
  EXPECT_TRUE(holds(condition, Preempted(), false));
  EXPECT_FALSE(holds(condition, Crashed(1), true));
  Replica other = Preempted();
  other.conditions = {{"DisruptionTarget", "False"}, {"ConfigIssue", "True"}};
  EXPECT_FALSE(holds(condition, other, false));
  EXPECT_TRUE(holds(OnCondition(FailureRule::Ignore, "ConfigIssue"), other, false));
  Replica oom = Crashed(137);
  oom.oom = true;
  EXPECT_TRUE(holds(OnReason(FailureRule::Ignore, "OOMKilled"), oom, true));
  EXPECT_TRUE(holds(OnReason(FailureRule::Ignore, "Error"), Crashed(1), true));
  EXPECT_FALSE(holds(OnReason(FailureRule::Ignore, "Error"), oom, true));
}

TEST(FailureRules, TheFirstThatHolds_Decides) {
  const auto ruling = RulingOf(Ruled(Crashed(3), {OnCodes(FailureRule::FailJob, ExitCodes::In, {4}),
                                                  OnCodes(FailureRule::Count, ExitCodes::In, {3}),
                                                  OnCodes(FailureRule::Ignore, ExitCodes::In, {3})})
                                   .job.spec(),
                               Crashed(3), true);
  ASSERT_TRUE(ruling);
  EXPECT_EQ(DescribeRuling(*ruling), "rule 1 of its failurePolicy: Count");
}

TEST(PlanRules, WhenACrashIsIgnored_ItStartsAgainAndCountsAgainstNoLimit) {
  Snapshot snapshot = Ruled(Crashed(3), {OnCodes(FailureRule::Ignore, ExitCodes::In, {3})});
  ReplicaSpec& workers = *snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker();
  workers.set_backoff_limit_per_replica(0);
  for (const RestartPolicy policy :
       {RestartPolicy::OnFailure, RestartPolicy::Never, RestartPolicy::ExitCode}) {
    workers.set_restart_policy(policy);
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Running);
    EXPECT_EQ(Actions<StartReplica>(plan).size(), 1U);
    EXPECT_EQ(plan.status.restarts().failures(), 0);
    EXPECT_EQ(RecordOf(plan).failures(), 1);
    EXPECT_EQ(RecordOf(plan).ignored_failures(), 1);
    EXPECT_FALSE(RecordOf(plan).given_up());
    ASSERT_EQ(plan.ends.size(), 1U);
    EXPECT_TRUE(plan.ends[0].failure);
    EXPECT_FALSE(plan.ends[0].counts);
  }
}

TEST(PlanRules, WhenIgnoredCrashesFollowOneAnother_TheyWaitAllTheSame) {
  Snapshot snapshot = Ruled(Crashed(3), {OnCodes(FailureRule::Ignore, ExitCodes::In, {3})});
  (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"]
      .set_consecutive_failures(1);
  EXPECT_TRUE(Actions<StartReplica>(Plan(snapshot, kNow)).empty());
}

TEST(PlanRules, WhenACrashCounts_ThatIsInsteadOfItsRestartPolicy) {
  Snapshot snapshot = Ruled(Crashed(3), {OnCodes(FailureRule::Count, ExitCodes::In, {3})});
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(1);
  for (const RestartPolicy policy : {RestartPolicy::Never, RestartPolicy::ExitCode}) {
    snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_restart_policy(
        policy);
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Running);
    EXPECT_EQ(plan.status.restarts().failures(), 1);
    snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->clear_failure_policy();
    EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Failed);
    snapshot = Ruled(Crashed(3), {OnCodes(FailureRule::Count, ExitCodes::In, {3})});
    snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(1);
  }
}

TEST(PlanRules, WhenADisruptionCounts_ItIsACrashWithItsOwnCause) {
  const PlanResult plan =
      Plan(Ruled(Preempted(), {OnCondition(FailureRule::Count, "DisruptionTarget")}), kNow);
  EXPECT_EQ(plan.status.restarts().failures(), 1);
  EXPECT_EQ(plan.status.restarts().disruptions(), 0);
  ASSERT_EQ(plan.ends.size(), 1U);
  EXPECT_EQ(plan.ends[0].cause, RestartCause::kPreempted);
  EXPECT_EQ(FailedBy(plan),
            "BackoffLimitExceeded: replicas failed 1 times, backoffLimit is 0; the last was "
            "worker-0: PreemptionByScheduler, exit code 137");
}

TEST(PlanRules, WhenADisruptionIsIgnored_ItIsOneAsBefore) {
  const PlanResult plan =
      Plan(Ruled(Preempted(), {OnCondition(FailureRule::Ignore, "DisruptionTarget")}), kNow);
  EXPECT_EQ(plan.status.restarts().disruptions(), 1);
  EXPECT_EQ(plan.status.restarts().failures(), 0);
  EXPECT_EQ(Actions<StartReplica>(plan).size(), 1U);
}

TEST(PlanRules, WhenTheActionIsFailJob_TheJobFailsAndNamesTheRule) {
  Snapshot snapshot = Ruled(Crashed(3), {OnCodes(FailureRule::Ignore, ExitCodes::In, {4}),
                                         OnCodes(FailureRule::FailJob, ExitCodes::In, {3})});
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(6);
  EXPECT_EQ(FailedBy(Plan(snapshot, kNow)),
            "FailurePolicy: worker-0: Error, exit code 3; rule 1 of its failurePolicy: FailJob");
  EXPECT_EQ(
      FailedBy(Plan(Ruled(Preempted(), {OnReason(FailureRule::FailJob, "PreemptionByScheduler")}),
                    kNow)),
      "FailurePolicy: worker-0: PreemptionByScheduler, exit code 137; rule 0 of its "
      "failurePolicy: FailJob");
}

TEST(PlanRules, WhenTheActionIsFailReplica_TheJobGoesOnWithoutIt) {
  for (const Replica& worker : {Crashed(42), Preempted()}) {
    Snapshot snapshot = Ruled(worker, {OnReason(FailureRule::FailReplica, "Error"),
                                       OnCondition(FailureRule::FailReplica, "DisruptionTarget")});
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Running);
    EXPECT_TRUE(Actions<StartReplica>(plan).empty());
    EXPECT_TRUE(RecordOf(plan).given_up());
    EXPECT_EQ(plan.status.replica_statuses().at("worker").given_up(), 1);
    EXPECT_EQ(FindCondition(plan.status, "Running")->status(), "True");
    ASSERT_EQ(plan.ends.size(), 1U);
    EXPECT_TRUE(plan.ends[0].given_up);
    // Also when its pod is gone, and the chief decides.
    *snapshot.job.mutable_status() = plan.status;
    std::erase_if(snapshot.replicas, [](const Replica& replica) { return replica.Ended(); });
    EXPECT_TRUE(Actions<StartReplica>(Plan(snapshot, kNow)).empty());
    snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
    EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
  }
}

TEST(PlanRules, WhenAllWorkersAreGivenUp_TheJobFails) {
  Snapshot snapshot = Ruled(Crashed(42), {OnReason(FailureRule::FailReplica, "Error")});
  snapshot.replicas[4] = Crashed(42, 1);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
  snapshot.replicas[5] = Crashed(42, 2);
  EXPECT_EQ(FailedBy(Plan(snapshot, kNow)),
            "WorkersGivenUp: 3 of 3 workers are given up, and the job cannot succeed without them; "
            "the first is worker-0: Error, exit code 42");
}

TEST(PlanRules, WhenAllWorkersAreGivenUpAndTheChiefHasSucceeded_TheEvaluatorDecides) {
  Snapshot snapshot = Ruled(Crashed(42), {OnReason(FailureRule::FailReplica, "Error")});
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_evaluator()->set_replicas(1);
  snapshot.replicas.push_back(Running(Role::kEvaluator, 0));
  for (const std::int32_t index : {0, 1, 2}) {
    (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-" +
                                                                             std::to_string(index)]
        .set_given_up(true);
  }
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
}

/// The same job without a chief.
Snapshot Chiefless(Snapshot snapshot, JobSpec::SuccessPolicy policy) {
  snapshot.job.mutable_spec()->set_success_policy(policy);
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_chief()->set_replicas(0);
  snapshot.replicas.erase(snapshot.replicas.begin());
  return snapshot;
}

TEST(PlanRules, WhenAWorkerIsGivenUpThatTheJobSucceedsBy_TheJobFails) {
  const FailureRule rule = OnReason(FailureRule::FailReplica, "Error");
  const Snapshot worker_0 = Ruled(Crashed(42), {rule});
  EXPECT_EQ(FailedBy(Plan(Chiefless(worker_0, JobSpec::Worker0), kNow)).substr(0, 14),
            "WorkersGivenUp");
  // Of all workers each other one goes on to its end first.
  Snapshot all = Chiefless(worker_0, JobSpec::AllWorkers);
  EXPECT_EQ(Plan(all, kNow).status.phase(), JobStatus::Running);
  all.replicas[3] = Crashed(0, 1);
  EXPECT_EQ(Plan(all, kNow).status.phase(), JobStatus::Running);
  all.replicas[4] = Crashed(0, 2);
  EXPECT_EQ(FailedBy(Plan(all, kNow)),
            "WorkersGivenUp: 1 of 3 workers are given up, and the job cannot succeed without them; "
            "the first is worker-0: Error, exit code 42");
  Snapshot other = Chiefless(Ruled(Running(Role::kWorker, 0), {rule}), JobSpec::Worker0);
  other.replicas[3] = Crashed(42, 1);
  EXPECT_EQ(Plan(other, kNow).status.phase(), JobStatus::Running);
}

TEST(PlanOwnLimit, WhenAWorkerHasMoreCrashes_ItIsGivenUp) {
  Snapshot snapshot = Ruled(Crashed(1), {});
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(6);
  ReplicaSpec& workers = *snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker();
  workers.set_backoff_limit_per_replica(1);
  const PlanResult first = Plan(snapshot, kNow);
  EXPECT_EQ(Actions<StartReplica>(first).size(), 1U);
  EXPECT_FALSE(RecordOf(first).given_up());
  *snapshot.job.mutable_status() = first.status;
  snapshot.replicas[3] = Ended(Running(Role::kWorker, 0, 1), 1);
  const PlanResult second = Plan(snapshot, kNow);
  EXPECT_EQ(second.status.phase(), JobStatus::Running);
  EXPECT_TRUE(RecordOf(second).given_up());
  EXPECT_EQ(second.status.restarts().failures(), 2);
  EXPECT_TRUE(Actions<StartReplica>(second).empty());
}

TEST(PlanOwnLimit, WhenAChiefOrPsHasMoreCrashes_TheJobFails) {
  Snapshot snapshot = Ruled(Running(Role::kWorker, 0), {});
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(6);
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_backoff_limit_per_replica(
      0);
  snapshot.replicas[1] = Ended(Running(Role::kPs, 0), 1);
  EXPECT_EQ(FailedBy(Plan(snapshot, kNow)),
            "BackoffLimitPerReplicaExceeded: ps-0 failed 1 times, its backoffLimitPerReplica is 0; "
            "the last was ps-0: Error, exit code 1");
}

TEST(PlanOwnLimit, WhenAReplicaIsDisrupted_ThatIsFree) {
  Snapshot snapshot = Ruled(Preempted(), {});
  snapshot.job.mutable_spec()
      ->mutable_replica_specs()
      ->mutable_worker()
      ->set_backoff_limit_per_replica(0);
  EXPECT_FALSE(RecordOf(Plan(snapshot, kNow)).given_up());
}

}  // namespace
}  // namespace pstrain::plan
