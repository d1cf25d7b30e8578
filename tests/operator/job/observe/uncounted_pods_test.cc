#include "operator/job/observe/uncounted_pods.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "operator/job/observe/replicas.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;

PodStore::Object PodOf(const std::string& uid, const std::string& owner, int attempt = 0,
                       const std::string& phase = "Running") {
  PodView view;
  view.name = "byo-worker-0";
  view.uid = uid;
  view.controller_uid = owner;
  view.place = {plan::Role::kWorker, 0};
  view.attempt = attempt;
  view.phase = phase;
  kube::ObjectMeta meta;
  meta.uid = uid;
  return std::make_shared<const kube::Cached<PodView>>(kube::Cached<PodView>{meta, view});
}

const plan::ReplicaId kWorker{plan::Role::kWorker, 0};

TEST(Observations, APodWhoseNameAnotherHas_IsGone) {
  const ManualClock clock;
  Observations observations(clock);
  observations.PodChanged(PodOf("a", "job"), PodOf("b", "job"));
  ASSERT_EQ(observations.Gone("job").size(), 1U);
  EXPECT_EQ(observations.Gone("job").front().uid, "a");
}

TEST(Observations, APodThatChangesItsOwner_IsGoneForTheFormer) {
  const ManualClock clock;
  Observations observations(clock);
  observations.PodChanged(PodOf("a", "job"), PodOf("a", ""));
  EXPECT_EQ(observations.Gone("job").size(), 1U);
  EXPECT_TRUE(observations.Gone("").empty());
}

TEST(Observations, Drop_LeavesWhatCameSince) {
  const ManualClock clock;
  Observations observations(clock);
  observations.PodChanged(PodOf("a", "job"), nullptr);
  const auto counted = observations.Gone("job");
  observations.PodChanged(PodOf("b", "job"), nullptr);
  observations.Drop("job", counted);
  ASSERT_EQ(observations.Gone("job").size(), 1U);
  EXPECT_EQ(observations.Gone("job").front().uid, "b");
}

TEST(Observations, TheAgeOfALoss_IsThatOfTheAttemptBefore) {
  ManualClock clock;
  Observations observations(clock);
  observations.PodChanged(nullptr, PodOf("a", "job", 0, "Failed"));
  clock.Advance(seconds(100));
  observations.PodChanged(PodOf("b", "job", 1), PodOf("b", "job", 1, "Failed"));
  clock.Advance(seconds(2));
  EXPECT_FALSE(observations.TakeLossAge("job", kWorker, 1).has_value());
  EXPECT_EQ(observations.TakeLossAge("job", kWorker, 2), seconds(2));
  EXPECT_FALSE(observations.TakeLossAge("job", kWorker, 2).has_value());
}

TEST(CollectReplicas, APodBetweenStoreAndNews_IsStillThere) {
  KnownPods pods;
  const plan::Time now{seconds(100)};
  EXPECT_EQ(CollectReplicas({PodOf("a", "job")}, {}, now, pods).size(), 1U);
  // The store has dropped it and the observations do not know yet: no second attempt 0.
  const auto between = CollectReplicas({}, {}, now, pods);
  ASSERT_EQ(between.size(), 1U);
  EXPECT_TRUE(between.front().Live());
  const ManualClock clock;
  Observations observations(clock);
  observations.PodChanged(PodOf("a", "job"), nullptr);
  const auto after = CollectReplicas({}, observations.Gone("job"), now, pods);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_TRUE(after.front().Ended());
  EXPECT_TRUE(CollectReplicas({}, {}, now, pods).empty());
}

TEST(CollectReplicas, APodThatTheStoreHadAndTheNewsCallsGone_IsOneReplica) {
  KnownPods pods;
  const ManualClock clock;
  Observations observations(clock);
  observations.PodChanged(PodOf("a", "job"), nullptr);
  const auto replicas =
      CollectReplicas({PodOf("a", "job")}, observations.Gone("job"), plan::Time(), pods);
  ASSERT_EQ(replicas.size(), 1U);
  EXPECT_TRUE(replicas.front().Ended());
}

}  // namespace
}  // namespace pstrain::job
