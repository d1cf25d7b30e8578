#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/operator/plan/simulation.h"

namespace pstrain::plan {
namespace {

constexpr std::uint64_t kHistories = 4000;
/// A wrong policy must show within so many histories.
constexpr std::uint64_t kMutantHistories = 2000;

std::string FirstViolation(const Policies& policies, std::uint64_t histories) {
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    std::string violation = Simulation(seed, policies).Run();
    if (!violation.empty()) return violation;
  }
  return {};
}

void DoNothing(PlanBuilder&) {}

void ForgetCrashes(PlanBuilder& builder) {
  CountEnds(builder);
  builder.status().mutable_restarts()->set_failures(0);
}
void CountDisruptionsAsCrashes(PlanBuilder& builder) {
  const std::int32_t before = builder.status().restarts().disruptions();
  CountEnds(builder);
  Restarts& restarts = *builder.status().mutable_restarts();
  restarts.set_failures(restarts.failures() + restarts.disruptions() - before);
}
void ReuseAttempts(PlanBuilder& builder) {
  CountEnds(builder);
  for (auto& [key, record] : *builder.status().mutable_restarts()->mutable_replicas()) {
    record.set_attempt(0);
  }
}
void ForgetConsecutive(PlanBuilder& builder) {
  CountEnds(builder);
  for (auto& [key, record] : *builder.status().mutable_restarts()->mutable_replicas()) {
    record.set_consecutive_failures(0);
  }
}
void ForgetShortLives(PlanBuilder& builder) {
  CountEnds(builder);
  for (auto& [key, record] : *builder.status().mutable_restarts()->mutable_replicas()) {
    record.clear_short_attempts();
  }
}
void BelieveEveryDrain(PlanBuilder& builder) {
  CountEnds(builder);
  for (auto& [key, record] : *builder.status().mutable_restarts()->mutable_replicas()) {
    record.clear_unexplained_drains();
  }
}
void FailAtFirstCrash(PlanBuilder& builder) {
  if (builder.status().restarts().failures() > 0) {
    builder.Finish(JobStatus::Failed, "Crash", "one crash");
  }
}
void SuspendAllTogether(PlanBuilder& builder) {
  if (!builder.spec().run_policy().suspend()) return;
  for (const Replica& replica : builder.snapshot().replicas) {
    builder.Stop(replica, builder.snapshot().grace);
  }
}
void ScaleLowestAway(PlanBuilder& builder) {
  if (builder.spec().run_policy().suspend()) return;
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    if (id.index < DesiredReplicas(builder.spec(), id.role)) continue;
    for (const Replica* replica : builder.Attempts({id.role, 0})) builder.Stop(*replica, {});
  }
}
void StartAgain(PlanBuilder& builder) {
  if (builder.spec().run_policy().suspend()) return;
  for (const Role role : kRoles) {
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), role); ++i) {
      const ReplicaId id{role, i};
      if (!builder.FindRecord(id).succeeded()) builder.Start(id, builder.FindRecord(id).attempt());
    }
  }
}
void StartAtOnce(PlanBuilder& builder) {
  for (auto& [key, record] : *builder.status().mutable_restarts()->mutable_replicas()) {
    record.set_last_end_seconds(0);
  }
  StartReplicas(builder);
}
void StartInSuspension(PlanBuilder& builder) {
  for (const Role role : kRoles) {
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), role); ++i) {
      const ReplicaId id{role, i};
      if (builder.Attempts(id).empty()) builder.Start(id, builder.FindRecord(id).attempt());
    }
  }
  StartReplicas(builder);
}
void PruneAll(PlanBuilder& builder) {
  for (const Replica& replica : builder.snapshot().replicas) builder.Delete(replica);
}
void TouchConditions(PlanBuilder& builder) {
  BuildStatus(builder);
  for (Condition& condition : *builder.status().mutable_conditions()) {
    condition.set_last_transition_time(std::to_string(builder.now().time_since_epoch().count()));
  }
}
void SucceedWithAnyWorker(PlanBuilder& builder) {
  if (builder.FindRecord({Role::kWorker, 0}).succeeded()) {
    builder.Finish(JobStatus::Succeeded, "Worker", "a worker is done");
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
        Mutant{"NoRestartDelay", [](Policies& p) { p.count_ends = ForgetShortLives; }},
        Mutant{"BelievesEvery85", [](Policies& p) { p.count_ends = BelieveEveryDrain; }},
        Mutant{"NeverSucceeds", [](Policies& p) { p.decide_success = DoNothing; }},
        Mutant{"SucceedsByWorker", [](Policies& p) { p.decide_success = SucceedWithAnyWorker; }},
        Mutant{"NeverFails", [](Policies& p) { p.decide_failure = DoNothing; }},
        Mutant{"FailsAtFirstCrash", [](Policies& p) { p.decide_failure = FailAtFirstCrash; }},
        Mutant{"NoDeadline", [](Policies& p) { p.decide_deadline = DoNothing; }},
        Mutant{"NoSuspend", [](Policies& p) { p.suspend_replicas = DoNothing; }},
        Mutant{"SuspendsAllTogether", [](Policies& p) { p.suspend_replicas = SuspendAllTogether; }},
        Mutant{"NoScaleDown", [](Policies& p) { p.scale_replicas = DoNothing; }},
        Mutant{"ScalesLowestAway", [](Policies& p) { p.scale_replicas = ScaleLowestAway; }},
        Mutant{"StartsNothing", [](Policies& p) { p.start_replicas = DoNothing; }},
        Mutant{"StartsTwice", [](Policies& p) { p.start_replicas = StartAgain; }},
        Mutant{"StartsAtOnce", [](Policies& p) { p.start_replicas = StartAtOnce; }},
        Mutant{"StartsSuspended", [](Policies& p) { p.start_replicas = StartInSuspension; }},
        Mutant{"NoCleanUp", [](Policies& p) { p.clean_up_replicas = DoNothing; }},
        Mutant{"NoPruning", [](Policies& p) { p.prune_attempts = DoNothing; }},
        Mutant{"PrunesTheLiving", [](Policies& p) { p.prune_attempts = PruneAll; }},
        Mutant{"LeavesSidecars", [](Policies& p) { p.stop_rests = DoNothing; }},
        Mutant{"WaitsForLostNodes", [](Policies& p) { p.forget_lost = DoNothing; }},
        Mutant{"NoStatus", [](Policies& p) { p.build_status = DoNothing; }},
        Mutant{"TouchesConditions", [](Policies& p) { p.build_status = TouchConditions; }}),
    [](const testing::TestParamInfo<Mutant>& mutant) { return std::string(mutant.param.name); });

}  // namespace
}  // namespace pstrain::plan
