// Whose success is that of the job: jobs without a chief.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "operator/plan/conditions.h"
#include "operator/plan/plan.h"
#include "tests/operator/plan/snapshots.h"

namespace pstrain::plan {
namespace {

/// 2 ps and 3 workers of an own program run, without chief and evaluator.
Snapshot Chiefless(JobSpec::SuccessPolicy policy) {
  Snapshot snapshot = With(Running(Role::kWorker, 0), /*own_program=*/true);
  snapshot.job.mutable_spec()->set_success_policy(policy);
  ReplicaSpecs& specs = *snapshot.job.mutable_spec()->mutable_replica_specs();
  specs.mutable_chief()->set_replicas(0);
  specs.mutable_evaluator()->set_replicas(0);
  std::erase_if(snapshot.replicas, [](const Replica& replica) {
    return replica.id.role == Role::kChief || replica.id.role == Role::kEvaluator;
  });
  return snapshot;
}

Replica& Worker(Snapshot& snapshot, std::int32_t index) {
  return *std::find_if(
      snapshot.replicas.begin(), snapshot.replicas.end(),
      [index](const Replica& replica) { return replica.id == ReplicaId{Role::kWorker, index}; });
}

void EndWorkers(Snapshot& snapshot, std::initializer_list<std::int32_t> indexes) {
  for (const std::int32_t index : indexes) {
    Worker(snapshot, index) = Ended(Worker(snapshot, index), 0);
  }
}

TEST(PlanWithoutChief, StartsPsAndWorkersAlone) {
  Snapshot snapshot = Chiefless(JobSpec::AllWorkers);
  snapshot.replicas.clear();
  const auto starts = Actions<StartReplica>(Plan(snapshot, kNow));
  EXPECT_EQ(starts.size(), 5U);
  EXPECT_TRUE(std::none_of(starts.begin(), starts.end(), [](const StartReplica& start) {
    return start.id.role == Role::kChief;
  }));
}

TEST(PlanWithoutChief, WhenWorker0Exits0_ItIsDoneByWorker0Alone) {
  Snapshot snapshot = Chiefless(JobSpec::Worker0);
  EndWorkers(snapshot, {1, 2});
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
  snapshot = Chiefless(JobSpec::Worker0);
  EndWorkers(snapshot, {0});
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(FindCondition(plan.status, "Succeeded")->message(), "worker-0 has finished");
  EXPECT_EQ(Actions<StopReplica>(plan).size(), 4U);
}

TEST(PlanWithoutChief, WhenAllWorkersMust_TheLastOneEndsTheJob) {
  Snapshot snapshot = Chiefless(JobSpec::AllWorkers);
  EndWorkers(snapshot, {0, 2});
  const PlanResult first = Plan(snapshot, kNow);
  EXPECT_EQ(first.status.phase(), JobStatus::Running);
  EXPECT_TRUE(Actions<StartReplica>(first).empty());
  *snapshot.job.mutable_status() = first.status;
  EndWorkers(snapshot, {1});
  const PlanResult last = Plan(snapshot, kNow);
  EXPECT_EQ(last.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(FindCondition(last.status, "Succeeded")->message(), "all workers have finished");
}

TEST(PlanWithoutChief, WhenTheNumberOfWorkersShrinks_ThoseThatAreLeftCount) {
  Snapshot snapshot = Chiefless(JobSpec::AllWorkers);
  EndWorkers(snapshot, {0, 1});
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(2);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
}

TEST(PlanWithoutChief, WhenAPodOfAWorkerThatHasSucceededIsGone_ItIsNotStartedAgain) {
  Snapshot snapshot = Chiefless(JobSpec::AllWorkers);
  EndWorkers(snapshot, {1});
  *snapshot.job.mutable_status() = Plan(snapshot, kNow).status;
  std::erase_if(snapshot.replicas, [](const Replica& replica) { return replica.Ended(); });
  EXPECT_TRUE(Actions<StartReplica>(Plan(snapshot, kNow)).empty());
}

TEST(PlanWithoutChief, WhenAPsCrashesAsTheWorkersEnd_ThatIsNoCrash) {
  Snapshot snapshot = Chiefless(JobSpec::AllWorkers);
  EndWorkers(snapshot, {0, 1, 2});
  snapshot.replicas.front() = Ended(Running(Role::kPs, 0), 1);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(plan.status.restarts().failures(), 0);
}

TEST(PlanWithoutChief, WithAnEvaluator_WaitsForItAndStartsNobodyElse) {
  Snapshot snapshot = Chiefless(JobSpec::Worker0);
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_evaluator()->set_replicas(1);
  snapshot.replicas.push_back(Running(Role::kEvaluator, 0));
  EndWorkers(snapshot, {0});
  Worker(snapshot, 1) = Ended(Worker(snapshot, 1), 1);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Running);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  snapshot.replicas.back() = Ended(snapshot.replicas.back(), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
}

TEST(PlanWithoutChief, WhenSuspended_AllStopTogether) {
  Snapshot snapshot = Chiefless(JobSpec::AllWorkers);
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  EXPECT_EQ(Actions<StopReplica>(Plan(snapshot, kNow)).size(), 5U);
}

}  // namespace
}  // namespace pstrain::plan
