// Which pods of a job are left when it has ended.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "operator/plan/plan.h"
#include "tests/operator/plan/snapshots.h"

namespace pstrain::plan {
namespace {

/// Keys of the replicas that a plan does that to.
template <typename Did>
std::set<std::string> Keys(const PlanResult& plan) {
  std::set<std::string> keys;
  for (const Did& action : Actions<Did>(plan)) keys.insert(ReplicaKey(action.id));
  return keys;
}

/// The chief has ended the job, worker 0 has ended, all others run.
Snapshot Finished() {
  Snapshot snapshot = With(Ended(Running(Role::kWorker, 0), 0));
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
  return snapshot;
}

TEST(PlanCleanUp, WhenARoleHasAPolicyOfItsOwn_TheOthersFollowThatOfTheJob) {
  Snapshot snapshot = Finished();
  ReplicaSpecs& specs = *snapshot.job.mutable_spec()->mutable_replica_specs();
  specs.mutable_worker()->set_clean_pod_policy(RunPolicy::All);
  specs.mutable_evaluator()->set_clean_pod_policy(RunPolicy::None);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(Keys<StopReplica>(plan),
            (std::set<std::string>{"ps-0", "ps-1", "worker-1", "worker-2"}));
  EXPECT_EQ(Keys<DeleteReplica>(plan), std::set<std::string>{"worker-0"});
}

TEST(PlanCleanUp, WhenTheJobKeepsItsPods_ARoleMayGiveUpItsOwn) {
  Snapshot snapshot = Finished();
  snapshot.job.mutable_spec()->mutable_run_policy()->set_clean_pod_policy(RunPolicy::None);
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_clean_pod_policy(
      RunPolicy::Running);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(Keys<StopReplica>(plan), (std::set<std::string>{"ps-0", "ps-1"}));
  EXPECT_TRUE(Actions<DeleteReplica>(plan).empty());
}

}  // namespace
}  // namespace pstrain::plan
