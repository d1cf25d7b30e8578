#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/operator/plan/simulation.h"

namespace pstrain::plan {
namespace {

constexpr std::uint64_t kHistories = 4000;
/// A wrong policy must show within so many histories.
constexpr std::uint64_t kMutantHistories = 1000;

std::string FirstViolation(const Policies& policies, std::uint64_t histories) {
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    std::string violation = Simulation(seed, policies).Run();
    if (!violation.empty()) return violation;
  }
  return {};
}

void DoNothing(Draft&) {}

void ForgetCrashes(Draft& draft) {
  CountEnds(draft);
  draft.status().mutable_restarts()->set_failures(0);
}
void CountDisruptionsAsCrashes(Draft& draft) {
  const std::int32_t before = draft.status().restarts().disruptions();
  CountEnds(draft);
  Restarts& restarts = *draft.status().mutable_restarts();
  restarts.set_failures(restarts.failures() + restarts.disruptions() - before);
}
void ReuseAttempts(Draft& draft) {
  CountEnds(draft);
  for (auto& [key, record] : *draft.status().mutable_restarts()->mutable_replicas()) {
    record.set_attempt(0);
  }
}
void ForgetConsecutive(Draft& draft) {
  CountEnds(draft);
  for (auto& [key, record] : *draft.status().mutable_restarts()->mutable_replicas()) {
    record.set_consecutive_failures(0);
  }
}
void FailAtFirstCrash(Draft& draft) {
  if (draft.status().restarts().failures() > 0) {
    draft.Finish(JobStatus::Failed, "Crash", "one crash");
  }
}
void SuspendAllAtOnce(Draft& draft) {
  if (!draft.spec().run_policy().suspend()) return;
  for (const Replica& replica : draft.snapshot().replicas) {
    draft.Stop(replica, draft.snapshot().grace);
  }
}
void ScaleLowestAway(Draft& draft) {
  if (draft.spec().run_policy().suspend()) return;
  for (const auto& [id, attempts] : draft.places()) {
    if (id.index < DesiredReplicas(draft.spec(), id.role)) continue;
    for (const Replica* replica : draft.Attempts({id.role, 0})) draft.Stop(*replica, {});
  }
}
void StartAgain(Draft& draft) {
  if (draft.spec().run_policy().suspend()) return;
  for (const Role role : kRoles) {
    for (std::int32_t i = 0; i < DesiredReplicas(draft.spec(), role); ++i) {
      const ReplicaId id{role, i};
      if (!draft.FindRecord(id).succeeded()) draft.Start(id, draft.FindRecord(id).attempt());
    }
  }
}
void StartAtOnce(Draft& draft) {
  for (auto& [key, record] : *draft.status().mutable_restarts()->mutable_replicas()) {
    record.set_last_end_seconds(0);
  }
  StartReplicas(draft);
}
void StartInSuspension(Draft& draft) {
  for (const Role role : kRoles) {
    for (std::int32_t i = 0; i < DesiredReplicas(draft.spec(), role); ++i) {
      const ReplicaId id{role, i};
      if (draft.Attempts(id).empty()) draft.Start(id, draft.FindRecord(id).attempt());
    }
  }
  StartReplicas(draft);
}
void PruneAll(Draft& draft) {
  for (const Replica& replica : draft.snapshot().replicas) draft.Delete(replica);
}
void TouchConditions(Draft& draft) {
  BuildStatus(draft);
  for (Condition& condition : *draft.status().mutable_conditions()) {
    condition.set_last_transition_time(std::to_string(draft.now().time_since_epoch().count()));
  }
}
void SucceedWithAnyWorker(Draft& draft) {
  if (draft.FindRecord({Role::kWorker, 0}).succeeded()) {
    draft.Finish(JobStatus::Succeeded, "Worker", "a worker is done");
  }
}

struct Mutant {
  const char* name;
  void (*change)(Policies&);
};

void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

class PlanMutant : public testing::TestWithParam<Mutant> {};

TEST(PlanProperties, OverRandomHistories_AllHold) {
  EXPECT_EQ(FirstViolation(Policies(), kHistories), "");
}

TEST_P(PlanMutant, IsCaught) {
  Policies policies;
  GetParam().change(policies);
  const std::string violation = FirstViolation(policies, kMutantHistories);
  EXPECT_NE(violation, "") << "no property caught the mutant " << GetParam().name;
  RecordProperty("violation", violation);
}

INSTANTIATE_TEST_SUITE_P(
    Policies, PlanMutant,
    testing::Values(
        Mutant{"CountsNothing", [](Policies& p) { p.count_ends = DoNothing; }},
        Mutant{"ForgetsCrashes", [](Policies& p) { p.count_ends = ForgetCrashes; }},
        Mutant{"DisruptionsCost", [](Policies& p) { p.count_ends = CountDisruptionsAsCrashes; }},
        Mutant{"ReusesAttempts", [](Policies& p) { p.count_ends = ReuseAttempts; }},
        Mutant{"NeverWaits", [](Policies& p) { p.count_ends = ForgetConsecutive; }},
        Mutant{"NeverSucceeds", [](Policies& p) { p.decide_success = DoNothing; }},
        Mutant{"SucceedsByWorker", [](Policies& p) { p.decide_success = SucceedWithAnyWorker; }},
        Mutant{"NeverFails", [](Policies& p) { p.decide_failure = DoNothing; }},
        Mutant{"FailsAtFirstCrash", [](Policies& p) { p.decide_failure = FailAtFirstCrash; }},
        Mutant{"NoDeadline", [](Policies& p) { p.decide_deadline = DoNothing; }},
        Mutant{"NoSuspend", [](Policies& p) { p.suspend_replicas = DoNothing; }},
        Mutant{"SuspendsAllAtOnce", [](Policies& p) { p.suspend_replicas = SuspendAllAtOnce; }},
        Mutant{"NoScaleDown", [](Policies& p) { p.scale_replicas = DoNothing; }},
        Mutant{"ScalesLowestAway", [](Policies& p) { p.scale_replicas = ScaleLowestAway; }},
        Mutant{"StartsNothing", [](Policies& p) { p.start_replicas = DoNothing; }},
        Mutant{"StartsTwice", [](Policies& p) { p.start_replicas = StartAgain; }},
        Mutant{"StartsAtOnce", [](Policies& p) { p.start_replicas = StartAtOnce; }},
        Mutant{"StartsSuspended", [](Policies& p) { p.start_replicas = StartInSuspension; }},
        Mutant{"NoCleanUp", [](Policies& p) { p.clean_up_replicas = DoNothing; }},
        Mutant{"NoPruning", [](Policies& p) { p.prune_attempts = DoNothing; }},
        Mutant{"PrunesTheLiving", [](Policies& p) { p.prune_attempts = PruneAll; }},
        Mutant{"NoStatus", [](Policies& p) { p.build_status = DoNothing; }},
        Mutant{"TouchesConditions", [](Policies& p) { p.build_status = TouchConditions; }}),
    [](const testing::TestParamInfo<Mutant>& mutant) { return std::string(mutant.param.name); });

}  // namespace
}  // namespace pstrain::plan
