#include "operator/job/observe/uncounted_pods.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/manual_clock.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;

PodStore::Object PodOf(const std::string& uid, const std::string& owner, int attempt = 0,
                       const std::string& phase = "Running") {
  PodView view;
  view.name = "byo-worker-0";
  view.uid = uid;
  view.controller_uid = owner;
  view.replica = {plan::Role::kWorker, 0};
  view.attempt = attempt;
  view.phase = phase;
  kube::ObjectMeta meta;
  meta.uid = uid;
  return std::make_shared<const kube::Cached<PodView>>(kube::Cached<PodView>{meta, view});
}

const plan::ReplicaId kWorker{plan::Role::kWorker, 0};

TEST(UncountedPods, APodWhoseNameAnotherHas_IsGone) {
  const ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(PodOf("a", "job"), PodOf("b", "job"));
  ASSERT_EQ(uncounted_pods.List("job").size(), 1U);
  EXPECT_EQ(uncounted_pods.List("job").front().uid, "a");
}

TEST(UncountedPods, APodThatChangesItsOwner_IsGoneForTheFormer) {
  const ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(PodOf("a", "job"), PodOf("a", ""));
  EXPECT_EQ(uncounted_pods.List("job").size(), 1U);
  EXPECT_TRUE(uncounted_pods.List("").empty());
}

TEST(UncountedPods, Drop_LeavesWhatCameSince) {
  const ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(PodOf("a", "job"), nullptr);
  const auto counted = uncounted_pods.List("job");
  uncounted_pods.PodChanged(PodOf("b", "job"), nullptr);
  uncounted_pods.MarkCounted("job", counted);
  ASSERT_EQ(uncounted_pods.List("job").size(), 1U);
  EXPECT_EQ(uncounted_pods.List("job").front().uid, "b");
}

TEST(UncountedPods, TheAgeOfALoss_IsThatOfTheAttemptBefore) {
  ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(nullptr, PodOf("a", "job", 0, "Failed"));
  clock.Advance(seconds(100));
  uncounted_pods.PodChanged(PodOf("b", "job", 1), PodOf("b", "job", 1, "Failed"));
  clock.Advance(seconds(2));
  EXPECT_FALSE(uncounted_pods.TakeTimeSinceLoss("job", kWorker, 1).has_value());
  EXPECT_EQ(uncounted_pods.TakeTimeSinceLoss("job", kWorker, 2), seconds(2));
  EXPECT_FALSE(uncounted_pods.TakeTimeSinceLoss("job", kWorker, 2).has_value());
}

PodStore::Object ReadyPod(const std::string& uid, int attempt) {
  const PodStore::Object pod = PodOf(uid, "job", attempt);
  PodView view = *pod->object;
  view.ready = true;
  return std::make_shared<const kube::Cached<PodView>>(kube::Cached<PodView>{pod->meta, view});
}

TEST(UncountedPods, AReplacement_IsToldOnceWhenItIsReady) {
  ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(nullptr, PodOf("a", "job", 0, "Failed"));
  clock.Advance(seconds(2));
  EXPECT_EQ(uncounted_pods.TakeTimeSinceLoss("job", kWorker, 1), seconds(2));
  // What comes of the lost one later is no other loss.
  uncounted_pods.PodChanged(PodOf("a", "job", 0, "Failed"), nullptr);
  uncounted_pods.PodChanged(nullptr, PodOf("b", "job", 1));
  EXPECT_TRUE(uncounted_pods.TakeReady("job").empty());
  clock.Advance(seconds(3));
  uncounted_pods.PodChanged(PodOf("b", "job", 1), ReadyPod("b", 1));
  uncounted_pods.PodChanged(ReadyPod("b", 1), ReadyPod("b", 1));
  const auto ready = uncounted_pods.TakeReady("job");
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready.front().role, plan::Role::kWorker);
  EXPECT_EQ(ready.front().took, seconds(5));
  EXPECT_TRUE(uncounted_pods.TakeReady("job").empty());
}

TEST(UncountedPods, ForgetLosses_MakesTheNextAttemptNoReplacement) {
  const ManualClock clock;
  UncountedPods uncounted_pods(clock);
  uncounted_pods.PodChanged(nullptr, PodOf("a", "job", 0, "Failed"));
  uncounted_pods.ForgetLosses("job");
  EXPECT_FALSE(uncounted_pods.TakeTimeSinceLoss("job", kWorker, 1).has_value());
  uncounted_pods.PodChanged(nullptr, ReadyPod("b", 1));
  EXPECT_TRUE(uncounted_pods.TakeReady("job").empty());
}

}  // namespace
}  // namespace pstrain::job
