// RunReplicas in functions of programs whose roles are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

/// Adds `amount` once for each device replica, and returns what each was given.
Result<Values> AddOnEach(Step& step, std::int64_t amount, const Values& shared) {
  const PerReplica<std::int64_t> amounts(amount);
  PSTRAIN_ASSIGN_OR_RETURN(
      const PerReplica<Values> returned,
      RunReplicas(
          step,
          [](Replica& replica, std::int64_t mine, const Values& all) -> Result<Values> {
            PSTRAIN_ASSIGN_OR_RETURN(const Tensor before, replica.Read(kCount));
            replica.Add(kCount, mine);
            PSTRAIN_ASSIGN_OR_RETURN(const std::int64_t name, all.scalar<std::int64_t>("name"));
            return Values{{"mine", mine},
                          {"name", name},
                          {"before", before},
                          {"replica", replica.replica_id_in_sync_group()},
                          {"replicas", replica.num_replicas_in_sync()},
                          {"worker", replica.worker_index()}};
          },
          amounts, shared));
  if (returned.size() != 1) return InternalError("not one device replica");
  return returned.Get(0);
}
const Function kAddOnEach{"AddOnEach", AddOnEach};

Result<Values> FailOnEach(Step& step, const std::string& why) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Values> returned,
                           RunReplicas(step, [&why](Replica& replica) -> Result<Values> {
                             replica.Add(kCount, std::int64_t{1'000'000});
                             return AbortedError(why);
                           }));
  return returned.Get(0);
}
const Function kFailOnEach{"FailOnEach", FailOnEach};

Result<Values> GiveToTwo(Step& step) {
  const PerReplica<std::int64_t> two(std::vector<std::int64_t>{1, 2});
  PSTRAIN_ASSIGN_OR_RETURN(
      const PerReplica<Values> returned,
      RunReplicas(
          step,
          [](Replica& replica, std::int64_t, std::int64_t mine) -> Result<Values> {
            replica.Add(kCount, mine);
            return Values();
          },
          std::int64_t{7}, two));
  return returned.Get(0);
}
const Function kGiveToTwo{"GiveToTwo", GiveToTwo};

class RunReplicasTest : public CoordinatorFixture {};

TEST_F(RunReplicasTest, EachHasItsOwnValueAndWhatAllAreGiven_AndChangesTheStep) {
  StartOneWorker(1);
  EXPECT_EQ(*Schedule(kAddOnEach, 5, Values{{"name", std::int64_t{42}}}).Fetch(kSoon),
            (Values{{"mine", std::int64_t{5}},
                    {"name", std::int64_t{42}},
                    {"before", std::int64_t{0}},
                    {"replica", std::int64_t{0}},
                    {"replicas", std::int64_t{1}},
                    {"worker", std::int64_t{0}}}));
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(Count(), 5);
}

TEST_F(RunReplicasTest, WhenOneFails_TheFunctionHasItsErrorAndChangesNothing) {
  StartOneWorker(1);
  EXPECT_EQ(Schedule(kFailOnEach, "no").Fetch(kSoon).status(), AbortedError("FailOnEach: no"));
  EXPECT_EQ(coordinator().Join(kSoon), AbortedError("FailOnEach: no"));
  EXPECT_EQ(Count(), 0);
}

TEST_F(RunReplicasTest, WhenValuesAreOfMoreDeviceReplicasThanThereAre_ItIsRefused) {
  StartOneWorker(1);
  const Status refused = Schedule(kGiveToTwo).Fetch(kSoon).status();
  EXPECT_EQ(refused, InvalidArgumentError("GiveToTwo: RunReplicas: argument 2 has values for 2 "
                                          "device replicas, and the worker has 1"));
  EXPECT_EQ(coordinator().Join(kSoon), refused);
  EXPECT_EQ(Count(), 0);
}

}  // namespace
}  // namespace pstrain
