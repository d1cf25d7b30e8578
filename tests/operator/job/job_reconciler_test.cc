#include "operator/job/job_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "operator/kube/json_fields.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

void SetWorkers(Json& job, int workers) {
  At(job, {"spec", "replicaSpecs", "worker"}).Set("replicas", Json::Int(workers));
}

void SetSuspend(Json& job, bool suspend) {
  At(job, {"spec", "runPolicy"}).Set("suspend", Json::Bool(suspend));
}

class JobReconcilerTest : public ::testing::Test {
 protected:
  void ExpectFixedPoint() {
    const int before = world_.Calls();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(world_.ReconcileOnce().ok());
    EXPECT_EQ(world_.Calls(), before);
  }

  ReconcilerFixture world_;
};

TEST_F(JobReconcilerTest, ANewJob_GetsServiceConfigMapAndPodsAndThenNoCalls) {
  world_.PutJob();
  world_.Settle();
  EXPECT_THAT(world_.PodNames(),
              UnorderedElementsAre("byo-chief-0", "byo-ps-0", "byo-worker-0", "byo-worker-1"));
  EXPECT_EQ(world_.server().All(kube::ServiceResource()).size(), 1U);
  EXPECT_EQ(world_.server().All(kube::ConfigMapResource()).size(), 1U);
  EXPECT_EQ(world_.StatusOfJob().phase(), JobStatus::Pending);
  EXPECT_EQ(world_.StatusOfJob().observed_generation(), 1);
  // A column of `kubectl get` is empty where there is no number.
  const Json job = *world_.server().Find(JobResource(), {"ml", "byo"});
  EXPECT_EQ(WriteJson(*kube::FindPath(job, {"status", "restarts"})),
            R"({"failures":0,"disruptions":0})");
  ExpectFixedPoint();
  world_.RunAllPods();
  world_.Settle();
  EXPECT_EQ(world_.StatusOfJob().phase(), JobStatus::Running);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, ARestartedOperator_ChangesNothing) {
  world_.StartJob();
  const int before = world_.Calls();
  world_.RestartOperator();
  world_.Settle();
  EXPECT_EQ(world_.Calls(), before);
}

TEST_F(JobReconcilerTest, WhenTheCacheOfPodsIsBehind_NoPodIsMadeTwice) {
  world_.PutJob();
  world_.SyncJobs();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  const int before = world_.CallsOf("POST");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world_.ReconcileOnce().ok());
  EXPECT_EQ(world_.CallsOf("POST"), before);
  world_.Settle();
  EXPECT_EQ(world_.PodNames().size(), 4U);
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(JobReconcilerTest, WhenTheCacheOfJobsIsBehind_WritesOfTheStatusFollowOneAnother) {
  world_.PutJob();
  world_.SyncJobs();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  world_.RunAllPods();
  world_.SyncPods();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  EXPECT_EQ(world_.StatusOfJob().phase(), JobStatus::Running);
  world_.EndPod("byo-worker-0", 1);
  world_.SyncPods();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  EXPECT_EQ(world_.StatusOfJob().restarts().failures(), 1);
  // An edit right behind our writes: the cache never shows the last of them alone.
  world_.EditJob([](Json& job) { SetWorkers(job, 3); });
  world_.Settle();
  EXPECT_EQ(world_.StatusOfJob().restarts().failures(), 1);
  EXPECT_EQ(world_.StatusOfJob().observed_generation(), 2);
  EXPECT_THAT(world_.PodNames(), Contains("byo-worker-2"));
}

TEST_F(JobReconcilerTest, ADeletedPod_IsReplacedAndCountedOnce) {
  world_.StartJob();
  world_.server().LingerOnDelete(kube::PodResource());
  world_.EditPod("byo-worker-1", [](Json& pod) {
    At(pod, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
  });
  world_.Settle();
  EXPECT_THAT(world_.PodNames(), Contains("byo-worker-1-1"));
  world_.RemovePod("byo-worker-1");
  world_.RunPod("byo-worker-1-1");
  world_.Settle();
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 1);
  EXPECT_EQ(world_.StatusOfJob().restarts().failures(), 0);
  EXPECT_EQ(world_.PodNames().size(), 4U);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, APodThatVanishes_IsCountedOnceAlsoAcrossAConflict) {
  world_.StartJob();
  world_.RemovePod("byo-ps-0");
  // Somebody writes the job at the same time: the first write of the status conflicts.
  world_.EditJob([](Json& job) { SetWorkers(job, 3); });
  world_.SyncPods();
  EXPECT_EQ(world_.ReconcileOnce().code(), StatusCode::kAborted);
  EXPECT_THAT(world_.PodNames(), Not(Contains("byo-ps-0-1")));
  world_.Settle();
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 1);
  EXPECT_THAT(world_.PodNames(), Contains("byo-ps-0-1"));
}

TEST_F(JobReconcilerTest, ACreatedPodThatTheWatchNeverShows_IsFoundGoneAndReplaced) {
  world_.PutJob();
  world_.SyncJobs();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  world_.RemovePod("byo-worker-0");
  world_.SkipPodNews();
  for (const std::string& name : world_.PodNames()) world_.RunPod(name);
  world_.Settle();
  EXPECT_THAT(world_.PodNames(), Not(Contains("byo-worker-0-1")));
  world_.RunFor(seconds(60));
  EXPECT_THAT(world_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 1);
}

TEST_F(JobReconcilerTest, ADeletedService_ComesBackWhileTheJobRuns) {
  world_.StartJob();
  world_.server().Remove(kube::ServiceResource(), {"ml", "byo"});
  world_.Settle();
  EXPECT_EQ(world_.server().All(kube::ServiceResource()).size(), 1U);
  const auto config_map = world_.server().All(kube::ConfigMapResource()).front();
  world_.server().Remove(kube::ConfigMapResource(),
                         {"ml", kube::TextOrEmpty(config_map.Find("metadata"), "name")});
  world_.Settle();
  EXPECT_EQ(world_.server().All(kube::ConfigMapResource()).size(), 1U);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AForeignPodOfOurName_IsAConditionAndOneEventAndNotTouched) {
  world_.server().Put(kube::PodResource(),
                      *ParseJson(R"({"metadata": {"name": "byo-chief-0", "namespace": "ml"}})"));
  world_.PutJob();
  world_.RunFor(seconds(60));
  EXPECT_EQ(world_.ConditionOf("NameConflict"), "True");
  EXPECT_THAT(world_.MessageOf("NameConflict"), HasSubstr("Pod byo-chief-0"));
  EXPECT_EQ(world_.CallsOf("DELETE"), 0);
  world_.RemovePod("byo-chief-0");
  world_.RunFor(seconds(61));
  EXPECT_EQ(world_.ConditionOf("NameConflict"), "False");
  EXPECT_EQ(world_.PodNames().size(), 4U);
  EXPECT_THAT(world_.FinishEvents(), Contains("NameConflict").Times(1));
}

TEST_F(JobReconcilerTest, NewCountsAlone_AreWrittenOnceASecond) {
  world_.PutJob();
  world_.RunFor(seconds(2));
  const auto writes = [this] { return world_.CallsOf("PATCH /apis/pstrain.dev"); };
  const int before = writes();
  for (const char* pod : {"byo-chief-0", "byo-ps-0", "byo-worker-0"}) {
    world_.RunPod(pod);
    world_.Settle();
  }
  EXPECT_EQ(writes(), before + 1) << "the first one changes the phase";
  world_.RunFor(seconds(1));
  EXPECT_EQ(writes(), before + 2);
  EXPECT_EQ(world_.StatusOfJob().replica_statuses().at("ps").ready(), 1);
  world_.RunPod("byo-worker-1");
  world_.Settle();
  EXPECT_EQ(world_.ConditionOf("Running"), "True") << "at once";
}

TEST_F(JobReconcilerTest, ANameConflict_CostsFewCalls) {
  world_.server().Put(kube::ServiceResource(),
                      *ParseJson(R"({"metadata": {"name": "byo", "namespace": "ml"}})"));
  world_.PutJob();
  world_.RunFor(seconds(60));
  EXPECT_THAT(world_.FinishEvents(), ElementsAre("NameConflict"));
  EXPECT_LE(world_.Calls() + world_.CallsOf("/events"), 10);
}

TEST_F(JobReconcilerTest, AJobOfTheSameName_WaitsForThePodsOfTheFormerAndTakesNoneOver) {
  world_.StartJob();
  const std::string former = world_.uid();
  world_.RemoveJob();
  world_.Settle();
  world_.PutJob();
  ASSERT_NE(world_.uid(), former);
  world_.Settle();
  EXPECT_EQ(world_.ConditionOf("NameConflict"), "True");
  EXPECT_EQ(world_.StatusOfJob().replica_statuses().at("worker").active(), 0);
  // The garbage collector comes by; no time need pass.
  world_.server().Remove(kube::ServiceResource(), {"ml", "byo"});
  for (const Json& config_map : world_.server().All(kube::ConfigMapResource())) {
    world_.server().Remove(kube::ConfigMapResource(),
                           {"ml", kube::TextOrEmpty(config_map.Find("metadata"), "name")});
  }
  for (const std::string& name : world_.PodNames()) world_.RemovePod(name);
  world_.Settle();
  EXPECT_EQ(world_.ConditionOf("NameConflict"), "False");
  EXPECT_EQ(world_.PodNames().size(), 4U);
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(JobReconcilerTest, ADeletingJob_GetsNoPods) {
  world_.StartJob();
  world_.EditJob([](Json& job) {
    At(job, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
  });
  // Foreground: the garbage collector deletes the pods, and that news may come first.
  world_.RemovePod("byo-worker-0");
  world_.RemovePod("byo-chief-0");
  world_.SyncPods();
  const int created = world_.CallsOf("POST /api/v1/namespaces/ml/pods");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world_.ReconcileOnce().ok());
  world_.Settle();
  EXPECT_EQ(world_.CallsOf("POST /api/v1/namespaces/ml/pods"), created);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AJobThatIsGone_GetsNoPodsThoughTheCacheStillHasIt) {
  world_.StartJob();
  world_.RemoveJob();
  world_.RemovePod("byo-worker-0");
  world_.SyncPods();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  EXPECT_THAT(world_.PodNames(), Not(Contains("byo-worker-0-1")));
  world_.Settle();
  EXPECT_EQ(world_.PodNames().size(), 3U);  // the garbage collector's
}

TEST_F(JobReconcilerTest, OrphanedPods_AreLeftAlone) {
  world_.StartJob();
  world_.EditJob([](Json& job) {
    At(job, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
  });
  for (const std::string& name : world_.PodNames()) {
    world_.EditPod(name,
                   [](Json& pod) { At(pod, {"metadata"}).Set("ownerReferences", Json::Array()); });
  }
  world_.SyncPods();
  EXPECT_TRUE(world_.ReconcileOnce().ok());
  world_.RemoveJob();
  world_.Settle();
  EXPECT_EQ(world_.PodNames().size(), 4U);
  EXPECT_EQ(world_.CallsOf("DELETE"), 0);
}

TEST_F(JobReconcilerTest, Suspend_DrainsChiefFirstAndResumeStartsTheNextAttempts) {
  world_.StartJob();
  world_.server().LingerOnDelete(kube::PodResource());
  world_.EditJob([](Json& job) { SetSuspend(job, true); });
  world_.Settle();
  EXPECT_EQ(world_.CallsOf("DELETE"), 1);
  EXPECT_EQ(world_.CallsOf("DELETE /api/v1/namespaces/ml/pods/byo-chief-0"), 1);
  world_.EndPod("byo-chief-0", 85);
  world_.Settle();
  for (const std::string& name : world_.PodNames()) world_.RemovePod(name);
  world_.Settle();
  EXPECT_EQ(world_.StatusOfJob().phase(), JobStatus::Suspended);
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 0);
  EXPECT_THAT(world_.PodNames(), IsEmpty());
  ExpectFixedPoint();
  world_.EditJob([](Json& job) { SetSuspend(job, false); });
  world_.Settle();
  EXPECT_THAT(world_.PodNames(), UnorderedElementsAre("byo-chief-0-1", "byo-ps-0-1",
                                                      "byo-worker-0-1", "byo-worker-1-1"));
  world_.RunAllPods();
  world_.Settle();
  const auto events = world_.FinishEvents();
  EXPECT_THAT(events, Contains("Suspended").Times(1));
  EXPECT_THAT(events, Contains("Resumed").Times(1));
}

TEST_F(JobReconcilerTest, ScaleDown_DeletesTheHighestIndexAndItsFormerConfigMapGoesLast) {
  world_.StartJob();
  world_.EditJob([](Json& job) { SetWorkers(job, 1); });
  world_.Settle();
  EXPECT_THAT(world_.PodNames(), UnorderedElementsAre("byo-chief-0", "byo-ps-0", "byo-worker-0"));
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 0);
  // The running pods still name the ConfigMap of before.
  EXPECT_EQ(world_.server().All(kube::ConfigMapResource()).size(), 1U);
  world_.RemovePod("byo-ps-0");
  world_.Settle();
  EXPECT_EQ(world_.server().All(kube::ConfigMapResource()).size(), 2U);
  world_.RemovePod("byo-chief-0");
  world_.RemovePod("byo-worker-0");
  world_.Settle();
  EXPECT_EQ(world_.server().All(kube::ConfigMapResource()).size(), 1U);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AFinishedJob_StopsItsPodsAndExpires) {
  world_.PutJob([](Json& job) {
    At(job, {"spec", "runPolicy"}).Set("ttlSecondsAfterFinished", Json::Int(100));
  });
  world_.Settle();
  world_.RunAllPods();
  world_.Settle();
  world_.EndPod("byo-chief-0", 0);
  world_.Settle();
  EXPECT_EQ(world_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_THAT(world_.PodNames(), ElementsAre("byo-chief-0"));
  ExpectFixedPoint();
  world_.RunFor(seconds(99));
  EXPECT_EQ(world_.CallsOf("DELETE /apis/pstrain.dev"), 0);
  world_.RunFor(seconds(2));
  EXPECT_EQ(world_.CallsOf("DELETE /apis/pstrain.dev"), 1);
  world_.Settle();
  EXPECT_THAT(world_.FinishEvents(), Contains("Succeeded").Times(1));
}

TEST_F(JobReconcilerTest, ACrash_WaitsLongerEachTimeAndCountsAgainstTheLimit) {
  world_.StartJob();
  world_.EndPod("byo-worker-0", 1);
  world_.Settle();
  EXPECT_THAT(world_.PodNames(), Contains("byo-worker-0-1"));
  world_.EndPod("byo-worker-0-1", 1);
  world_.Settle();
  EXPECT_THAT(world_.PodNames(), Not(Contains("byo-worker-0-2")));
  world_.RunFor(seconds(2));
  EXPECT_THAT(world_.PodNames(), Contains("byo-worker-0-2"));
  EXPECT_EQ(world_.StatusOfJob().restarts().failures(), 2);
}

TEST_F(JobReconcilerTest, ACreateWhoseAnswerIsLost_MakesOnePod) {
  world_.PutJob();
  world_.transport().BreakNext(kube::HttpMethod::kPost, true, 2);
  world_.Settle();
  EXPECT_EQ(world_.PodNames().size(), 4U);
  EXPECT_EQ(world_.ConditionOf("NameConflict"), "");
  EXPECT_EQ(world_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(JobReconcilerTest, AJobThatDoesNotParse_KeepsItsPodsAndItsCounts) {
  world_.StartJob();
  world_.EndPod("byo-worker-0", 1);
  world_.Settle();
  world_.RunPod("byo-worker-0-1");
  world_.Settle();
  world_.EditJob([](Json& job) { SetWorkers(job, -5); });
  world_.RestartOperator();
  world_.Settle();
  EXPECT_EQ(world_.ConditionOf("Accepted"), "False");
  EXPECT_THAT(world_.MessageOf("Accepted"), HasSubstr("spec.replicaSpecs.worker.replicas"));
  EXPECT_EQ(world_.ConditionOf("Created"), "True");
  EXPECT_EQ(world_.StatusOfJob().observed_generation(), 2);
  EXPECT_EQ(world_.CallsOf("DELETE /api/v1/namespaces/ml/pods"), 0);
  ExpectFixedPoint();
  world_.EditJob([](Json& job) { SetWorkers(job, 2); });
  world_.Settle();
  EXPECT_EQ(world_.ConditionOf("Accepted"), "True");
  EXPECT_EQ(world_.StatusOfJob().restarts().failures(), 1);
  EXPECT_EQ(world_.StatusOfJob().restarts().replicas().at("worker-0").attempt(), 1);
  ExpectFixedPoint();
  EXPECT_THAT(world_.FinishEvents(), Contains("InvalidSpec").Times(1));
}

}  // namespace
}  // namespace pstrain::job
