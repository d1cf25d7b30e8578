#include "operator/job/job_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

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
    const int before = fixture_.Calls();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture_.ReconcileOnce().ok());
    EXPECT_EQ(fixture_.Calls(), before);
  }

  ReconcilerFixture fixture_;
};

TEST_F(JobReconcilerTest, ANewJob_GetsServiceConfigMapAndPodsAndThenNoCalls) {
  fixture_.PutJob();
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(),
              UnorderedElementsAre("byo-chief-0", "byo-ps-0", "byo-worker-0", "byo-worker-1"));
  EXPECT_EQ(fixture_.server().All(kube::ServiceResource()).size(), 1U);
  EXPECT_EQ(fixture_.server().All(kube::ConfigMapResource()).size(), 1U);
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Pending);
  EXPECT_EQ(fixture_.StatusOfJob().observed_generation(), 1);
  // A column of `kubectl get` is empty where there is no number.
  const Json job = *fixture_.server().Find(JobResource(), {"ml", "byo"});
  EXPECT_EQ(WriteJson(*kube::FindPath(job, {"status", "restarts"})),
            R"({"failures":0,"disruptions":0})");
  ExpectFixedPoint();
  fixture_.RunAllPods();
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Running);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, ARestartedOperator_ChangesNothing) {
  fixture_.StartJob();
  const int before = fixture_.Calls();
  fixture_.RestartOperator();
  fixture_.Settle();
  EXPECT_EQ(fixture_.Calls(), before);
}

TEST_F(JobReconcilerTest, WhenTheCacheOfPodsIsBehind_NoPodIsMadeTwice) {
  fixture_.PutJob();
  fixture_.SyncJobs();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  const int before = fixture_.CallsOf("POST");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_EQ(fixture_.CallsOf("POST"), before);
  fixture_.Settle();
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(JobReconcilerTest, WhenTheCacheOfJobsIsBehind_WritesOfTheStatusFollowOneAnother) {
  fixture_.PutJob();
  fixture_.SyncJobs();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  fixture_.RunAllPods();
  fixture_.SyncPods();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Running);
  fixture_.EndPod("byo-worker-0", 1);
  fixture_.SyncPods();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 1);
  // An edit right behind our writes: the cache never shows the last of them alone.
  fixture_.EditJob([](Json& job) { SetWorkers(job, 3); });
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 1);
  EXPECT_EQ(fixture_.StatusOfJob().observed_generation(), 2);
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-2"));
}

TEST_F(JobReconcilerTest, ADeletedPod_IsReplacedAndCountedOnce) {
  fixture_.StartJob();
  fixture_.server().LingerOnDelete(kube::PodResource());
  fixture_.EditPod("byo-worker-1", [](Json& pod) {
    At(pod, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
  });
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-1-1"));
  fixture_.RemovePod("byo-worker-1");
  fixture_.RunPod("byo-worker-1-1");
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 1);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 0);
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, APodThatVanishes_IsCountedOnceAlsoAcrossAConflict) {
  fixture_.StartJob();
  fixture_.RemovePod("byo-ps-0");
  // Somebody writes the job at the same time: the first write of the status conflicts.
  fixture_.EditJob([](Json& job) { SetWorkers(job, 3); });
  fixture_.SyncPods();
  EXPECT_EQ(fixture_.ReconcileOnce().code(), StatusCode::kAborted);
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-ps-0-1")));
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 1);
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-ps-0-1"));
}

TEST_F(JobReconcilerTest, ACreatedPodThatTheWatchNeverShows_IsFoundGoneAndReplaced) {
  fixture_.PutJob();
  fixture_.SyncJobs();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  fixture_.RemovePod("byo-worker-0");
  fixture_.SkipPodNews();
  for (const std::string& name : fixture_.PodNames()) fixture_.RunPod(name);
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-1")));
  fixture_.RunFor(seconds(60));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 1);
}

TEST_F(JobReconcilerTest, ADeletedService_ComesBackWhileTheJobRuns) {
  fixture_.StartJob();
  fixture_.server().Remove(kube::ServiceResource(), {"ml", "byo"});
  fixture_.Settle();
  EXPECT_EQ(fixture_.server().All(kube::ServiceResource()).size(), 1U);
  const auto config_map = fixture_.server().All(kube::ConfigMapResource()).front();
  fixture_.server().Remove(kube::ConfigMapResource(),
                           {"ml", kube::TextOrEmpty(config_map.Find("metadata"), "name")});
  fixture_.Settle();
  EXPECT_EQ(fixture_.server().All(kube::ConfigMapResource()).size(), 1U);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AForeignPodOfOurName_IsAConditionAndOneEventAndNotTouched) {
  fixture_.server().Put(kube::PodResource(),
                        *ParseJson(R"({"metadata": {"name": "byo-chief-0", "namespace": "ml"}})"));
  fixture_.PutJob();
  fixture_.RunFor(seconds(60));
  EXPECT_EQ(fixture_.ConditionOf("NameConflict"), "True");
  EXPECT_THAT(fixture_.MessageOf("NameConflict"), HasSubstr("Pod byo-chief-0"));
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 0);
  fixture_.RemovePod("byo-chief-0");
  fixture_.RunFor(seconds(61));
  EXPECT_EQ(fixture_.ConditionOf("NameConflict"), "False");
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_THAT(fixture_.FinishEvents(), Contains("NameConflict").Times(1));
}

TEST_F(JobReconcilerTest, ForeignObjectsOfOurNames_AreAllNamed) {
  fixture_.StartJob();
  const auto config_map = fixture_.server().All(kube::ConfigMapResource()).front();
  const std::string name = kube::TextOrEmpty(config_map.Find("metadata"), "name");
  fixture_.RemoveJob();
  for (const std::string& pod : fixture_.PodNames()) fixture_.RemovePod(pod);
  fixture_.server().Remove(kube::ServiceResource(), {"ml", "byo"});
  fixture_.server().Remove(kube::ConfigMapResource(), {"ml", name});
  fixture_.Settle();
  const std::string metadata = R"("namespace": "ml"}})";
  fixture_.server().Put(kube::ServiceResource(),
                        *ParseJson(R"({"metadata": {"name": "byo", )" + metadata));
  fixture_.server().Put(kube::ConfigMapResource(),
                        *ParseJson(R"({"metadata": {"name": ")" + name + R"(", )" + metadata));
  fixture_.PutJob();
  fixture_.RunFor(seconds(60));
  EXPECT_EQ(fixture_.MessageOf("NameConflict"),
            "NameTaken: Service byo and ConfigMap " + name +
                " exist and do not belong to this job; delete them or give the job another name");
  fixture_.server().Remove(kube::ServiceResource(), {"ml", "byo"});
  fixture_.RunFor(seconds(61));
  EXPECT_EQ(fixture_.MessageOf("NameConflict"),
            "NameTaken: ConfigMap " + name +
                " exists and does not belong to this job; delete it or give the job another name");
}

TEST_F(JobReconcilerTest, NewCountsAlone_AreWrittenOnceASecond) {
  fixture_.PutJob();
  fixture_.RunFor(seconds(2));
  const auto writes = [this] { return fixture_.CallsOf("PATCH /apis/pstrain.dev"); };
  const int before = writes();
  for (const char* pod : {"byo-chief-0", "byo-ps-0", "byo-worker-0"}) {
    fixture_.RunPod(pod);
    fixture_.Settle();
  }
  EXPECT_EQ(writes(), before + 1) << "the first one changes the phase";
  fixture_.RunFor(seconds(1));
  EXPECT_EQ(writes(), before + 2);
  EXPECT_EQ(fixture_.StatusOfJob().replica_statuses().at("ps").ready(), 1);
  fixture_.RunPod("byo-worker-1");
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("Running"), "True") << "immediately";
}

TEST_F(JobReconcilerTest, ProgressAlone_IsWrittenEachHalfMinute) {
  fixture_.StartJob(Train);
  const auto writes = [this] { return fixture_.CallsOf("PATCH /apis/pstrain.dev"); };
  const int before = writes();
  for (int i = 1; i <= 24; ++i) {  // two minutes, as the poller asks
    fixture_.PollChief(
        0, R"("examples_expected": 8000, "examples_committed": )" + std::to_string(80 * i));
    EXPECT_TRUE(fixture_.ReconcileOnce().ok());
    fixture_.RunFor(seconds(5));
  }
  EXPECT_GE(writes() - before, 4);
  EXPECT_LE(writes() - before, 5);
  EXPECT_GE(fixture_.StatusOfJob().training().examples_committed(), 80 * 18);
}

// Ten pods, Service and ConfigMap are twelve; one dry run, as all templates are alike, and two
// writes of the status.
TEST_F(JobReconcilerTest, AJobOfTenPods_RunsAfterFifteenCalls) {
  fixture_.StartJob([](Json& job) { SetWorkers(job, 8); });
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Running);
  EXPECT_EQ(fixture_.CallsOf("POST /api/v1/namespaces/ml/pods?fieldValidation"), 10);
  EXPECT_EQ(fixture_.CallsOf("dryRun=All"), 1);
  EXPECT_EQ(fixture_.CallsOf("PATCH /apis/pstrain.dev"), 2);
  EXPECT_LE(fixture_.Calls(), 15);
}

TEST_F(JobReconcilerTest, ANewJob_CountsNothingAndMakesItsPodsBeforeItsStatus) {
  fixture_.PutJob();
  fixture_.SyncJobs();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  const std::vector<std::string> requests = fixture_.server().requests();
  const auto of = [](const std::string& what) {
    return [what](const std::string& request) { return request.find(what) != std::string::npos; };
  };
  const auto status = std::ranges::find_if(requests, of("/status"));
  ASSERT_NE(status, requests.end());
  EXPECT_EQ(std::count_if(requests.begin(), status, of("ml/pods?fieldValidation")), 4);
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Pending);
}

TEST_F(JobReconcilerTest, ANameConflict_CostsFewCalls) {
  fixture_.server().Put(kube::ServiceResource(),
                        *ParseJson(R"({"metadata": {"name": "byo", "namespace": "ml"}})"));
  fixture_.PutJob();
  fixture_.RunFor(seconds(60));
  EXPECT_THAT(fixture_.FinishEvents(), ElementsAre("NameConflict"));
  EXPECT_LE(fixture_.Calls() + fixture_.CallsOf("/events"), 10);
}

TEST_F(JobReconcilerTest, AJobOfTheSameName_WaitsForThePodsOfTheFormerAndTakesNoneOver) {
  fixture_.StartJob();
  const std::string former = fixture_.uid();
  fixture_.RemoveJob();
  fixture_.Settle();
  fixture_.PutJob();
  ASSERT_NE(fixture_.uid(), former);
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("NameConflict"), "True");
  EXPECT_EQ(fixture_.StatusOfJob().replica_statuses().at("worker").active(), 0);
  // The garbage collector comes by; no time need pass.
  fixture_.server().Remove(kube::ServiceResource(), {"ml", "byo"});
  for (const Json& config_map : fixture_.server().All(kube::ConfigMapResource())) {
    fixture_.server().Remove(kube::ConfigMapResource(),
                             {"ml", kube::TextOrEmpty(config_map.Find("metadata"), "name")});
  }
  for (const std::string& name : fixture_.PodNames()) fixture_.RemovePod(name);
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("NameConflict"), "False");
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(JobReconcilerTest, ADeletingJob_GetsNoPods) {
  fixture_.StartJob();
  fixture_.EditJob([](Json& job) {
    At(job, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
  });
  // Foreground: the garbage collector deletes the pods, and that news may come first.
  fixture_.RemovePod("byo-worker-0");
  fixture_.RemovePod("byo-chief-0");
  fixture_.SyncPods();
  const int created = fixture_.CallsOf("POST /api/v1/namespaces/ml/pods");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  fixture_.Settle();
  EXPECT_EQ(fixture_.CallsOf("POST /api/v1/namespaces/ml/pods"), created);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AJobThatIsGone_GetsNoPodsThoughTheCacheStillHasIt) {
  fixture_.StartJob();
  fixture_.RemoveJob();
  fixture_.RemovePod("byo-worker-0");
  fixture_.SyncPods();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-1")));
  fixture_.Settle();
  EXPECT_EQ(fixture_.PodNames().size(), 3U);  // the garbage collector's
}

TEST_F(JobReconcilerTest, OrphanedPods_AreLeftAlone) {
  fixture_.StartJob();
  fixture_.EditJob([](Json& job) {
    At(job, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
  });
  for (const std::string& name : fixture_.PodNames()) {
    fixture_.EditPod(
        name, [](Json& pod) { At(pod, {"metadata"}).Set("ownerReferences", Json::Array()); });
  }
  fixture_.SyncPods();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  fixture_.RemoveJob();
  fixture_.Settle();
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 0);
}

TEST_F(JobReconcilerTest, NetworkPolicies_AreMadeOnlyWhenAskedForAndFollowTheFlag) {
  const auto names = [this] {
    std::vector<std::string> found;
    for (const Json& policy : fixture_.server().All(kube::NetworkPolicyResource())) {
      found.push_back(kube::TextOrEmpty(policy.Find("metadata"), "name"));
    }
    return found;
  };
  fixture_.StartJob();
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(fixture_.CallsOf("POST /apis/networking"), 0);
  const auto restart = [this](const char* peers) {
    fixture_.SetPolicyPeers(*ParseJson(peers));
    fixture_.RestartOperator();
    fixture_.SyncAll();
    fixture_.Settle();
  };
  restart("[]");
  const std::vector<std::string> first = names();
  ASSERT_EQ(first.size(), 1U);
  ExpectFixedPoint();
  fixture_.server().Remove(kube::NetworkPolicyResource(), {"ml", first[0]});
  fixture_.Settle();
  EXPECT_EQ(names(), first) << "it serves live pods";
  restart(R"([{"podSelector": {}}])");
  const std::vector<std::string> second = names();
  EXPECT_EQ(second.size(), 1U);
  EXPECT_NE(second, first);
  ExpectFixedPoint();
  fixture_.SetPolicyPeers(std::nullopt);
  fixture_.RestartOperator();
  fixture_.SyncAll();
  fixture_.Settle();
  EXPECT_EQ(names(), second) << "switched off, it stays with its job";
}

TEST_F(JobReconcilerTest, ShortLives_DelayTheNextAttemptByTheClockOfTheStatus) {
  fixture_.StartJob();
  fixture_.EndPod("byo-worker-1", 86, seconds(3));
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-1-1")));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().replicas().at("worker-1").short_attempts(), 1);
  // Another operator takes over: the restart delay is in the status.
  fixture_.RestartOperator();
  fixture_.SyncAll();
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-1-1")));
  fixture_.RunFor(seconds(2));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-1-1"));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 0);
}

TEST_F(JobReconcilerTest, Suspend_DrainsChiefFirstAndResumeStartsTheNextAttempts) {
  fixture_.StartJob();
  fixture_.server().LingerOnDelete(kube::PodResource());
  fixture_.EditJob([](Json& job) { SetSuspend(job, true); });
  fixture_.Settle();
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 1);
  EXPECT_EQ(fixture_.CallsOf("DELETE /api/v1/namespaces/ml/pods/byo-chief-0"), 1);
  fixture_.EndPod("byo-chief-0", 85);
  fixture_.Settle();
  for (const std::string& name : fixture_.PodNames()) fixture_.RemovePod(name);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Suspended);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
  ExpectFixedPoint();
  fixture_.EditJob([](Json& job) { SetSuspend(job, false); });
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), UnorderedElementsAre("byo-chief-0-1", "byo-ps-0-1",
                                                        "byo-worker-0-1", "byo-worker-1-1"));
  fixture_.RunAllPods();
  fixture_.Settle();
  const auto events = fixture_.FinishEvents();
  EXPECT_THAT(events, Contains("Suspended").Times(1));
  EXPECT_THAT(events, Contains("Resumed").Times(1));
}

TEST_F(JobReconcilerTest, ScaleDown_DeletesTheHighestIndexAndItsFormerConfigMapGoesLast) {
  fixture_.StartJob();
  fixture_.EditJob([](Json& job) { SetWorkers(job, 1); });
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), UnorderedElementsAre("byo-chief-0", "byo-ps-0", "byo-worker-0"));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
  // The running pods still name the ConfigMap of before.
  EXPECT_EQ(fixture_.server().All(kube::ConfigMapResource()).size(), 1U);
  fixture_.RemovePod("byo-ps-0");
  fixture_.Settle();
  EXPECT_EQ(fixture_.server().All(kube::ConfigMapResource()).size(), 2U);
  fixture_.RemovePod("byo-chief-0");
  fixture_.RemovePod("byo-worker-0");
  fixture_.Settle();
  EXPECT_EQ(fixture_.server().All(kube::ConfigMapResource()).size(), 1U);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AFinishedJob_StopsItsPodsAndExpires) {
  fixture_.PutJob([](Json& job) {
    At(job, {"spec", "runPolicy"}).Set("ttlSecondsAfterFinished", Json::Int(100));
  });
  fixture_.Settle();
  fixture_.RunAllPods();
  fixture_.Settle();
  fixture_.EndPod("byo-chief-0", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_THAT(fixture_.PodNames(), ElementsAre("byo-chief-0"));
  ExpectFixedPoint();
  fixture_.RunFor(seconds(99));
  EXPECT_EQ(fixture_.CallsOf("DELETE /apis/pstrain.dev"), 0);
  fixture_.RunFor(seconds(2));
  EXPECT_EQ(fixture_.CallsOf("DELETE /apis/pstrain.dev"), 1);
  fixture_.Settle();
  EXPECT_THAT(fixture_.FinishEvents(), Contains("Succeeded").Times(1));
}

TEST_F(JobReconcilerTest, EachEnd_IsInTheStatusAndAnEventOfItsOwn) {
  fixture_.StartJob();
  for (const char* pod : {"byo-worker-0", "byo-worker-1"}) {
    fixture_.EditPod(
        pod, [](Json& object) { At(object, {"spec"}).Set("nodeName", Json::String("n1")); });
    fixture_.EndPod(pod, 3);
  }
  fixture_.Settle();
  fixture_.RemovePod("byo-ps-0");
  fixture_.Settle();
  const auto replicas = fixture_.StatusOfJob().restarts().replicas();
  EXPECT_EQ(replicas.at("worker-0").last_end().exit_code(), 3);
  EXPECT_EQ(replicas.at("worker-0").last_end().node(), "n1");
  EXPECT_EQ(replicas.at("ps-0").last_end().reason(), "Deleted");
  ExpectFixedPoint();
  const auto reasons = fixture_.FinishEvents();
  EXPECT_THAT(reasons, Contains("ReplicaFailed").Times(2));
  EXPECT_THAT(reasons, Contains("ReplicaDisrupted").Times(1));
  std::vector<std::string> notes;
  for (const Json& event : fixture_.server().All(kube::EventResource())) {
    notes.push_back(kube::TextOrEmpty(event, "note"));
  }
  EXPECT_THAT(notes, Contains("worker-0 on node n1: Error, exit code 3 (pod byo-worker-0)"));
  EXPECT_THAT(notes, Contains("worker-1 on node n1: Error, exit code 3 (pod byo-worker-1)"));
  EXPECT_THAT(notes, Contains("ps-0: Deleted (pod byo-ps-0)"));
}

TEST_F(JobReconcilerTest, AWorkerThatSomebodySignalsBesideASidecar_IsReplacedWithoutAFailure) {
  fixture_.StartJob();
  fixture_.server().LingerOnDelete(kube::PodResource());
  fixture_.SetPodStatus("byo-worker-0", R"({"phase": "Running", "containerStatuses": [
    {"name": "c", "state": {"terminated": {"exitCode": 143, "startedAt": "2020-01-01T00:00:00Z",
                                           "message": "{\"told_to_stop\":true}"}}},
    {"name": "proxy", "state": {"running": {}}}]})");
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 1);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 0);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 1);
  ExpectFixedPoint();
}

/// The training container of a pod has ended, and a sidecar of it runs on.
std::string EndedBesideASidecar(int exit_code) {
  return R"({"phase": "Running", "containerStatuses": [
    {"name": "c", "state": {"terminated": {"exitCode": )" +
         std::to_string(exit_code) + R"(, "startedAt": "2020-01-01T00:00:00Z"}}},
    {"name": "proxy", "state": {"running": {}}}]})";
}

TEST_F(JobReconcilerTest, AChiefThatIsDoneBesideASidecar_EndsTheJobAndItsPodGoes) {
  fixture_.StartJob();
  fixture_.SetPodStatus("byo-chief-0", EndedBesideASidecar(0));
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AWorkerThatCrashesBesideASidecar_IsReplacedAndItsPodGoes) {
  fixture_.StartJob();
  fixture_.server().LingerOnDelete(kube::PodResource());
  fixture_.SetPodStatus("byo-worker-0", EndedBesideASidecar(1));
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 1);
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 1);
  fixture_.RemovePod("byo-worker-0");
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 1);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
  ExpectFixedPoint();
}

TEST_F(JobReconcilerTest, AChiefWithoutALastWord_IsProvenByTheLastPoll) {
  fixture_.StartJob(Train);
  fixture_.PollChief(0, R"("examples_expected": 80, "examples_committed": 80, "applied_min": 80,
                           "applied_max": 80)");
  fixture_.EndPod("byo-chief-0", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_EQ(fixture_.MessageOf("Succeeded"), "JobSucceeded: the chief has finished");
}

TEST_F(JobReconcilerTest, AChiefWhoseLastPollCameBeforeItsEnd_HasNotProvenItsSuccessAndFails) {
  fixture_.StartJob(Train);
  fixture_.PollChief(0, R"("examples_expected": 80, "examples_committed": 70, "applied_min": 60,
                           "applied_max": 60)");
  fixture_.EndPod("byo-chief-0", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Failed);
  EXPECT_THAT(fixture_.MessageOf("Failed"), HasSubstr("ResultNotProven: "));
  EXPECT_THAT(fixture_.MessageOf("Failed"), HasSubstr("not known"));
}

TEST_F(JobReconcilerTest, ACrash_WaitsLongerEachTimeAndCountsAgainstTheLimit) {
  fixture_.StartJob();
  fixture_.EndPod("byo-worker-0", 1);
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  fixture_.EndPod("byo-worker-0-1", 1);
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-2")));
  fixture_.RunFor(seconds(2));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-2"));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 2);
}

TEST_F(JobReconcilerTest, ACreateWhoseAnswerIsLost_MakesOnePod) {
  fixture_.PutJob();
  fixture_.transport().BreakNext(kube::HttpMethod::kPost, true, 2);
  fixture_.Settle();
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_EQ(fixture_.ConditionOf("NameConflict"), "");
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(JobReconcilerTest, AJobThatDoesNotParse_KeepsItsPodsAndItsCounts) {
  fixture_.StartJob();
  fixture_.EndPod("byo-worker-0", 1);
  fixture_.Settle();
  fixture_.RunPod("byo-worker-0-1");
  fixture_.Settle();
  fixture_.EditJob([](Json& job) { SetWorkers(job, -5); });
  fixture_.RestartOperator();
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "False");
  EXPECT_THAT(fixture_.MessageOf("Accepted"), HasSubstr("spec.replicaSpecs.worker.replicas"));
  EXPECT_EQ(fixture_.ConditionOf("Created"), "True");
  EXPECT_EQ(fixture_.StatusOfJob().observed_generation(), 2);
  EXPECT_EQ(fixture_.CallsOf("DELETE /api/v1/namespaces/ml/pods"), 0);
  ExpectFixedPoint();
  fixture_.EditJob([](Json& job) { SetWorkers(job, 2); });
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "True");
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 1);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().replicas().at("worker-0").attempt(), 1);
  ExpectFixedPoint();
  EXPECT_THAT(fixture_.FinishEvents(), Contains("InvalidSpec").Times(1));
}

}  // namespace
}  // namespace pstrain::job
