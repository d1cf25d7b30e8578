// Single rules of the plan, one situation each.
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <variant>

#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"
#include "proto/contract/exit_codes.h"
#include "tests/operator/plan/simulation.h"

namespace pstrain::plan {
namespace {

using std::chrono::seconds;

constexpr Time kNow{seconds(1'800'000'000)};

template <typename T>
std::vector<T> Actions(const PlanResult& plan) {
  std::vector<T> found;
  for (const Action& action : plan.actions) {
    if (const T* typed = std::get_if<T>(&action)) found.push_back(*typed);
  }
  return found;
}

Replica Running(Role role, std::int32_t index, std::int32_t attempt = 0) {
  Replica replica;
  replica.id = {role, index};
  replica.attempt = attempt;
  replica.phase = ReplicaPhase::kRunning;
  replica.started = kNow - seconds(10);
  return replica;
}

Replica Ended(Replica replica, std::int32_t exit_code) {
  replica.phase = exit_code == 0 ? ReplicaPhase::kSucceeded : ReplicaPhase::kFailed;
  replica.exit_code = exit_code;
  replica.ended = kNow;
  return replica;
}

/// Everything of SimulatedJob runs, worker 0 is as given.
Snapshot With(const Replica& worker, bool own_program = false) {
  Snapshot snapshot;
  snapshot.job = SimulatedJob(own_program);
  snapshot.replicas = {
      Running(Role::kChief, 0),  Running(Role::kPs, 0),     Running(Role::kPs, 1),       worker,
      Running(Role::kWorker, 1), Running(Role::kWorker, 2), Running(Role::kEvaluator, 0)};
  return snapshot;
}

TEST(Plan, WhenTheJobIsNew_StartsEveryPlaceAfterStoringTheStatus) {
  Snapshot snapshot;
  snapshot.job = SimulatedJob(false);
  const PlanResult plan = Plan(snapshot, kNow);
  ASSERT_FALSE(plan.actions.empty());
  EXPECT_TRUE(std::holds_alternative<SetStatus>(plan.actions.front()));
  EXPECT_EQ(Actions<StartReplica>(plan).size(), 7U);
  EXPECT_EQ(plan.status.start_time(), FormatTimestamp(kNow));
}

TEST(Plan, WhenAWorkerCrashes_CountsItAndStartsTheNextAttemptAtOnce) {
  const PlanResult plan = Plan(With(Ended(Running(Role::kWorker, 0), 1)), kNow);
  const auto starts = Actions<StartReplica>(plan);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].attempt, 1);
  EXPECT_EQ(plan.status.restarts().failures(), 1);
}

TEST(Plan, WhenAWorkerCrashesAgain_WaitsOneSecond) {
  Snapshot snapshot = With(Ended(Running(Role::kWorker, 0, 1), 1));
  ReplicaRestarts& record =
      (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"];
  record.set_attempt(1);
  record.set_consecutive_failures(1);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  ASSERT_EQ(Actions<RequeueAt>(plan).size(), 1U);
  EXPECT_EQ(Actions<RequeueAt>(plan)[0].time, kNow + seconds(1));
}

TEST(Plan, WhenAWorkerCrashesAfterTenHealthyMinutes_ForgetsEarlierCrashes) {
  Replica worker = Running(Role::kWorker, 0, 5);
  worker.started = kNow - seconds(600);
  Snapshot snapshot = With(Ended(worker, 1));
  ReplicaRestarts& record =
      (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"];
  record.set_attempt(5);
  record.set_consecutive_failures(5);
  EXPECT_EQ(Actions<StartReplica>(Plan(snapshot, kNow)).size(), 1U);
}

TEST(Plan, WhenAPodIsBeingDeleted_ReplacesItByTheRuleOfItsProgram) {
  Replica worker = Running(Role::kWorker, 0);
  worker.terminating = true;
  EXPECT_EQ(Actions<StartReplica>(Plan(With(worker, false), kNow)).size(), 1U);
  EXPECT_TRUE(Actions<StartReplica>(Plan(With(worker, true), kNow)).empty());
  EXPECT_EQ(Plan(With(worker, false), kNow).status.restarts().disruptions(), 1);
  EXPECT_EQ(Plan(With(worker, false), kNow).status.restarts().failures(), 0);
}

TEST(Plan, WhenAWorkerDrainsOrIsDisrupted_StartsTheNextAttemptAndCountsNoFailure) {
  for (const int code : {kExitDrained, kExitDisrupted}) {
    const PlanResult plan = Plan(With(Ended(Running(Role::kWorker, 0), code)), kNow);
    const auto starts = Actions<StartReplica>(plan);
    ASSERT_EQ(starts.size(), 1U) << code;
    EXPECT_EQ(starts[0].attempt, 1);
    EXPECT_EQ(plan.status.restarts().failures(), 0) << code;
    EXPECT_EQ(plan.status.restarts().disruptions(), 1) << code;
  }
}

TEST(Plan, WhenTheChiefSaysThatNoAttemptCanSucceed_TheJobFailsWithoutAnother) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), kExitPermanent);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Failed);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  const Condition* failed = FindCondition(plan.status, "Failed");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->reason(), "ReplicaFailedForGood");
  EXPECT_EQ(failed->message(),
            "chief-0 exited with code 87: no attempt can succeed; its log says why");
}

TEST(Plan, WhenAReplicaThatWasToldToGoExits87_TheJobGoesOn) {
  Replica evicted = Ended(Running(Role::kWorker, 0), kExitPermanent);
  evicted.disruption = Disruption::kEvicted;
  EXPECT_EQ(Plan(With(evicted), kNow).status.phase(), JobStatus::Running);
}

TEST(Plan, WhenAWorkerExitsZero_DoesNotReplaceIt) {
  const PlanResult plan = Plan(With(Ended(Running(Role::kWorker, 0), 0)), kNow);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  EXPECT_EQ(plan.status.replica_statuses().at("worker").succeeded(), 1);
}

TEST(Plan, WhenTheBuiltInChiefSucceeds_TheJobHasWhateverTheEvaluatorDoes) {
  for (const Replica& evaluator :
       {Running(Role::kEvaluator, 0), Ended(Running(Role::kEvaluator, 0), 1),
        Ended(Running(Role::kEvaluator, 0), 0)}) {
    Snapshot snapshot = With(Running(Role::kWorker, 0));
    snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
    snapshot.replicas.back() = evaluator;
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
    EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  }
}

TEST(Plan, WhenAChiefOfOnesOwnSucceeds_TheJobWaitsForTheEvaluator) {
  Snapshot snapshot = With(Running(Role::kWorker, 0), /*own_program=*/true);
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
  snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), 1);
  const PlanResult crashed = Plan(snapshot, kNow);
  EXPECT_EQ(crashed.status.phase(), JobStatus::Running);
  const auto starts = Actions<StartReplica>(crashed);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].id.role, Role::kEvaluator);
  snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
}

TEST(Plan, WhenTheEvaluatorAloneSucceeds_TheJobGoesOn) {
  for (const bool own_program : {false, true}) {
    Snapshot snapshot = With(Running(Role::kWorker, 0), own_program);
    snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), 0);
    EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running) << own_program;
  }
}

TEST(Plan, WhenWorkersAreScaledDown_StopsTheHighestIndexFirst) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(1);
  const auto stops = Actions<StopReplica>(Plan(snapshot, kNow));
  ASSERT_EQ(stops.size(), 2U);
  EXPECT_EQ(stops[0].id.index, 2);
  EXPECT_EQ(stops[1].id.index, 1);
}

TEST(Plan, WhenSuspended_StopsTheChiefFirst) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  const auto stops = Actions<StopReplica>(Plan(snapshot, kNow));
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].id.role, Role::kChief);
  EXPECT_EQ(stops[0].grace, snapshot.grace);
}

TEST(Plan, WhenSuspendedPastItsDeadline_GoesOnDraining) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_active_deadline_seconds(60);
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  snapshot.job.mutable_status()->set_start_time(FormatTimestamp(kNow - seconds(61)));
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_NE(plan.status.phase(), JobStatus::Failed);
  EXPECT_EQ(Actions<StopReplica>(plan).size(), 1U);
}

TEST(Plan, WhenSeveralAttemptsHaveEnded_DeletesAllButTheLast) {
  Snapshot snapshot = With(Running(Role::kWorker, 0, 2));
  snapshot.replicas.push_back(Ended(Running(Role::kWorker, 0, 0), 1));
  snapshot.replicas.push_back(Ended(Running(Role::kWorker, 0, 1), 1));
  (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"].set_attempt(
      2);
  const auto deletes = Actions<DeleteReplica>(Plan(snapshot, kNow));
  ASSERT_EQ(deletes.size(), 1U);
  EXPECT_EQ(deletes[0].attempt, 0);
}

TEST(Timestamp, RoundTrips) {
  EXPECT_EQ(FormatTimestamp(kNow), "2027-01-15T08:00:00Z");
  EXPECT_EQ(ParseTimestamp("2027-01-15T08:00:00Z"), kNow);
  for (const char* text : {"", "2027-01-15", "2027-13-15T08:00:00Z", "2027-01-15T08:00:00+"}) {
    EXPECT_FALSE(ParseTimestamp(text).has_value()) << text;
  }
}

const Condition* Find(const JobStatus& status, const std::string& type) {
  for (const Condition& condition : status.conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

Snapshot WithChief(const std::optional<FinalCounts>& counts) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.replicas[0] = Ended(snapshot.replicas[0], 0);
  snapshot.replicas[0].counts = counts;
  return snapshot;
}

TEST(Plan, WhenTheChiefsCountsAgree_TheJobSucceeds) {
  const PlanResult plan = Plan(WithChief(FinalCounts{8000, 8000, 8000, 8000}), kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(Find(plan.status, "Succeeded")->message(), "the chief has finished");
}

TEST(Plan, WhenAChiefThatExitsWith0HasOtherCounts_TheJobFails) {
  const FinalCounts kWrong[] = {{240000, 240000, 71576, 240000},
                                {8000, 8000, 8000, 24720},
                                {8000, 24720, 8000, 8000},
                                {8000, 7999, 7999, 7999}};
  for (const FinalCounts& counts : kWrong) {
    const PlanResult plan = Plan(WithChief(counts), kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Failed);
    const Condition* failed = Find(plan.status, "Failed");
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->reason(), "ResultNotProven");
    EXPECT_NE(failed->message().find(std::to_string(counts.applied_max)), std::string::npos)
        << failed->message();
  }
}

TEST(Plan, WhenTheChiefsCountsAreNotKnown_TheJobSucceedsAndSaysSo) {
  const PlanResult plan = Plan(WithChief(std::nullopt), kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_NE(Find(plan.status, "Succeeded")->message().find("not known"), std::string::npos);
}

}  // namespace
}  // namespace pstrain::plan
