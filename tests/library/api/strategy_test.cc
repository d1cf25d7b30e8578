// Which strategy and which context code is in: chief, ps and workers are threads of this process.
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace pstrain {
namespace {

constexpr std::chrono::seconds kSoon{120};

/// What the calling code sees.
struct Seen {
  bool has_strategy = HasStrategy();
  bool strategy = GetStrategy().has_value();
  bool cross_replica = InCrossReplicaContext();
  std::optional<ReplicaContext> replica = GetReplicaContext();
};

void ExpectReplica(const Seen& seen) {
  EXPECT_FALSE(seen.has_strategy);
  EXPECT_FALSE(seen.strategy);
  EXPECT_FALSE(seen.cross_replica);
  ASSERT_TRUE(seen.replica.has_value());
  EXPECT_EQ(seen.replica->replica_id_in_sync_group(), 0);
  EXPECT_EQ(seen.replica->num_replicas_in_sync(), 1);
}

void ExpectCrossReplica(const Seen& seen) {
  EXPECT_TRUE(seen.has_strategy);
  EXPECT_TRUE(seen.strategy);
  EXPECT_TRUE(seen.cross_replica);
  EXPECT_FALSE(seen.replica.has_value());
}

Result<Values> Look(Step& /*step*/) {
  const Seen seen;
  Values values{{"has_strategy", seen.has_strategy || seen.strategy},
                {"cross_replica", seen.cross_replica}};
  if (seen.replica) {
    values.Set("replica", seen.replica->replica_id_in_sync_group());
    values.Set("replicas", seen.replica->num_replicas_in_sync());
  }
  return values;
}
const Function kLook{"Look", Look};

std::optional<Seen> seen_by_the_dataset;

Result<Dataset> LookAndCount(const InputContext& /*context*/) {
  seen_by_the_dataset.emplace();
  return Dataset::Range(3);
}
const DatasetFunction kLookAndCount{"LookAndCount", LookAndCount};

ParameterServerStrategy Start(const std::string& environment = "") {
  return ParameterServerStrategy::Create(ClusterResolver({.environment = environment}),
                                         {.workers = 3})
      .value();
}

template <typename Strategy>
concept HasLogicalDevices = requires(const Strategy& strategy, const Tensor& tensor) {
  strategy.ExperimentalAssignToLogicalDevice(tensor, 0);
} || requires(const Strategy& strategy, const Tensor& tensor) {
  strategy.ExperimentalReplicateToLogicalDevices(tensor);
} || requires(const Strategy& strategy, const Tensor& tensor) {
  strategy.ExperimentalSplitToLogicalDevices(tensor, Shape{2});
};
template <typename Strategy>
concept HasPythonObject = requires(const Strategy& strategy) { strategy.PythonObject(); };

/// Of which run a strategy is, by what was given to it.
std::string NameOf(const std::optional<ParameterServerStrategy>& strategy) {
  return strategy ? strategy->cluster_resolver().environment() : "none";
}

TEST(StrategyTest, OfWhateverWorkers_ReplicasInSyncAreThoseOfOne) {
  const ParameterServerStrategy strategy = Start("this one");
  EXPECT_EQ(strategy.num_replicas_in_sync(), 1);
  EXPECT_EQ(strategy.cluster_resolver().environment(), "this one");
  EXPECT_TRUE(strategy.cluster_resolver().cluster_spec().empty());
}

TEST(StrategyTest, OutsideOfAScope_IsAReplicaOfItsOwn) {
  ExpectReplica(Seen());
  const ParameterServerStrategy strategy = Start();
  ExpectReplica(Seen());
  {
    const auto scope = strategy.Scope();
  }
  ExpectReplica(Seen());
}

TEST(StrategyTest, InAScope_IsCrossReplicaOfThatStrategy) {
  const ParameterServerStrategy outer = Start("outer");
  const ParameterServerStrategy inner = Start("inner");
  const auto scope = outer.Scope();
  ExpectCrossReplica(Seen());
  EXPECT_EQ(NameOf(GetStrategy()), "outer");
  {
    const auto nested = inner.Scope();
    ExpectCrossReplica(Seen());
    EXPECT_EQ(NameOf(GetStrategy()), "inner");
  }
  EXPECT_EQ(NameOf(GetStrategy()), "outer");
  std::thread([] { ExpectReplica(Seen()); }).join();
}

TEST(StrategyTest, TheStrategyOfAScope_IsTheSameRun) {
  const ParameterServerStrategy strategy = Start();
  const auto scope = strategy.Scope();
  const auto coordinator = ClusterCoordinator::Create(*GetStrategy());
  ASSERT_TRUE(coordinator.ok());
  ASSERT_TRUE(Variable::Create({"w"}, Shape{}).ok());
  const auto again = GetStrategy()->Scope();
  EXPECT_EQ(Variable::Create({"w"}, Shape{2}).status().code(), StatusCode::kAlreadyExists);
}

TEST(StrategyTest, AFunction_IsInTheContextOfItsReplica) {
  const ParameterServerStrategy strategy = Start();
  auto coordinator = ClusterCoordinator::Create(strategy).value();
  const auto scope = strategy.Scope();
  const auto scheduled = coordinator.Schedule(kLook);
  ASSERT_TRUE(scheduled.ok()) << scheduled.status().ToString();
  const Result<Values> seen = scheduled->Fetch(kSoon);
  ASSERT_TRUE(seen.ok()) << seen.status().ToString();
  EXPECT_FALSE(*seen->scalar<bool>("has_strategy"));
  EXPECT_FALSE(*seen->scalar<bool>("cross_replica"));
  EXPECT_EQ(*seen->scalar<std::int64_t>("replica"), 0);
  EXPECT_EQ(*seen->scalar<std::int64_t>("replicas"), strategy.num_replicas_in_sync());
  ExpectCrossReplica(Seen());
}

// It is called in workers too, where it is in no scope.
TEST(StrategyTest, ADatasetFunction_IsNotInTheScopeOfItsCaller) {
  const ParameterServerStrategy strategy = Start();
  auto coordinator = ClusterCoordinator::Create(strategy).value();
  const auto scope = strategy.Scope();
  ASSERT_TRUE(coordinator.CreatePerWorkerDataset(kLookAndCount).ok());
  ASSERT_TRUE(seen_by_the_dataset.has_value());
  ExpectReplica(*seen_by_the_dataset);
}

// Devices of a TPU, and the object of Python behind a binding of TensorFlow.
TEST(StrategyTest, WhatIsOfOtherMachines_IsRefusedWhenCompiled) {
  EXPECT_FALSE(HasLogicalDevices<ParameterServerStrategy>);
  EXPECT_FALSE(HasPythonObject<ParameterServerStrategy>);
}

}  // namespace
}  // namespace pstrain
