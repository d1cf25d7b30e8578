#include "operator/job/observe/replicas.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "operator/job/observe/uncounted_pods.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;

PodStore::Object PodOf(const std::string& uid, const std::string& owner) {
  PodView view;
  view.name = "byo-worker-0";
  view.uid = uid;
  view.controller_uid = owner;
  view.replica = {plan::Role::kWorker, 0};
  view.phase = "Running";
  kube::ObjectMeta meta;
  meta.uid = uid;
  return std::make_shared<const kube::Cached<PodView>>(kube::Cached<PodView>{meta, view});
}

TEST(CollectReplicas, APodBetweenStoreAndNews_IsStillThere) {
  KnownPods pods;
  const plan::Time now{seconds(100)};
  EXPECT_EQ(CollectReplicas({PodOf("a", "job")}, {}, now, pods).size(), 1U);
  // The store has dropped it and uncounted_pods does not know yet: no second attempt 0.
  const auto between = CollectReplicas({}, {}, now, pods);
  ASSERT_EQ(between.size(), 1U);
  EXPECT_TRUE(between.front().Live());
  const ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(PodOf("a", "job"), nullptr);
  const auto after = CollectReplicas({}, uncounted_pods.List("job"), now, pods);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_TRUE(after.front().Ended());
  EXPECT_TRUE(CollectReplicas({}, {}, now, pods).empty());
}

TEST(CollectReplicas, AnEndedPodWhoseRestWeDeleted_StopsUntilItIsGone) {
  KnownPods pods;
  const PodStore::Object running = PodOf("a", "job");
  PodView view = *running->object;
  view.container.terminated = true;
  view.others_remain = true;
  const auto ended =
      std::make_shared<const kube::Cached<PodView>>(kube::Cached<PodView>{running->meta, view});
  EXPECT_EQ(CollectReplicas({ended}, {}, plan::Time(), pods).front().rest, plan::Rest::kRuns);
  pods.stopped.insert("a");
  const auto stopped = CollectReplicas({ended}, {}, plan::Time(), pods);
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped.front().rest, plan::Rest::kStops);
}

TEST(CollectReplicas, APodThatTheStoreHadAndTheNewsCallsGone_IsOneReplica) {
  KnownPods pods;
  const ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(PodOf("a", "job"), nullptr);
  const auto replicas =
      CollectReplicas({PodOf("a", "job")}, uncounted_pods.List("job"), plan::Time(), pods);
  ASSERT_EQ(replicas.size(), 1U);
  EXPECT_TRUE(replicas.front().Ended());
}

}  // namespace
}  // namespace pstrain::job
