// What the policies of a job come to in a cluster: its pods, its status and its events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "operator/kube/json_fields.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class JobReconcilerPoliciesTest : public ::testing::Test {
 protected:
  /// Changes of the job's spec, given as JSON text: a member of `spec`, or of a role.
  static ReconcilerFixture::Change Chiefless(std::string_view policy) {
    return [policy](Json& job) {
      At(job, {"spec"}).Set("successPolicy", Json::String(std::string(policy)));
      At(job, {"spec", "replicaSpecs", "chief"}).Set("replicas", Json::Int(0));
    };
  }

  /// The workers' failurePolicy has these rules, JSON text.
  static ReconcilerFixture::Change Ruled(std::string_view rules) {
    return [rules](Json& job) {
      At(job, {"spec", "replicaSpecs", "worker", "failurePolicy"})
          .Set("rules", ParseJson(rules).value());
    };
  }
  std::vector<std::string> Notes() {
    fixture_.FinishEvents();
    std::vector<std::string> notes;
    for (const Json& event : fixture_.server().All(kube::EventResource())) {
      notes.push_back(kube::TextOrEmpty(event, "note"));
    }
    return notes;
  }

  ReconcilerFixture fixture_;
};

TEST_F(JobReconcilerPoliciesTest, AJobWithoutChief_HasNoneInItsClusterAndEndsWithItsWorkers) {
  fixture_.StartJob(Chiefless("AllWorkers"));
  EXPECT_THAT(fixture_.PodNames(),
              UnorderedElementsAre("byo-ps-0", "byo-worker-0", "byo-worker-1"));
  const auto maps = fixture_.server().All(kube::ConfigMapResource());
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_THAT(WriteJson(maps.front()), Not(HasSubstr("byo-chief-0")));
  EXPECT_THAT(WriteJson(maps.front()), HasSubstr("byo-worker-0.byo.ml.svc:2222"));
  fixture_.EndPod("byo-worker-0", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Running);
  fixture_.EndPod("byo-worker-1", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_EQ(fixture_.MessageOf("Succeeded"), "JobSucceeded: all workers have finished");
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-ps-0")));
}

TEST_F(JobReconcilerPoliciesTest, WhenWorker0IsToSucceed_ItEndsTheJobAlone) {
  fixture_.StartJob(Chiefless("Worker0"));
  fixture_.EndPod("byo-worker-0", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_THAT(fixture_.PodNames(), UnorderedElementsAre("byo-worker-0"));
}

TEST_F(JobReconcilerPoliciesTest, AWorkerThatItsRuleGivesUp_IsNotReplacedAndTheEventSaysWhy) {
  fixture_.StartJob(Ruled(R"([{"action": "FailReplica",
                               "onExitCodes": {"operator": "In", "values": [42]}}])"));
  fixture_.EndPod("byo-worker-1", 42);
  fixture_.Settle();
  const JobStatus status = fixture_.StatusOfJob();
  EXPECT_EQ(status.phase(), JobStatus::Running);
  EXPECT_EQ(status.restarts().failures(), 0);
  EXPECT_TRUE(status.restarts().replicas().at("worker-1").given_up());
  EXPECT_EQ(status.replica_statuses().at("worker").given_up(), 1);
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-1-1")));
  // A new process of the operator knows it from the status.
  fixture_.RemovePod("byo-worker-1");
  fixture_.RestartOperator();
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-1-1")));
  EXPECT_THAT(Notes(), Contains("worker-1: Error, exit code 42; rule 0 of its failurePolicy: "
                                "FailReplica; it is given up and not started again (pod "
                                "byo-worker-1)"));
}

TEST_F(JobReconcilerPoliciesTest, AConditionOfThePod_MakesTheJobFail) {
  fixture_.StartJob(Ruled(R"([{"action": "FailJob", "onPodConditions":
                               [{"type": "example.com/BadDisk"}]}])"));
  fixture_.SetPodStatus("byo-worker-0", R"({"phase": "Failed",
      "conditions": [{"type": "Ready", "status": "False"},
                     {"type": "example.com/BadDisk", "status": "True"}],
      "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1}}}]})");
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Failed);
  EXPECT_EQ(fixture_.MessageOf("Failed"),
            "FailurePolicy: worker-0: Error, exit code 1; rule 0 of its failurePolicy: FailJob");
}

TEST_F(JobReconcilerPoliciesTest, AJobThatAnotherManages_IsLeftAlone) {
  const auto managed_by = [](std::string_view who) {
    return [who](Json& job) { At(job, {"spec"}).Set("managedBy", Json::String(std::string(who))); };
  };
  fixture_.PutJob(managed_by("kueue.x-k8s.io/multikueue"));
  fixture_.Settle();
  EXPECT_TRUE(fixture_.PodNames().empty());
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::PHASE_UNSPECIFIED);
  EXPECT_TRUE(fixture_.server().All(kube::ServiceResource()).empty());
  EXPECT_EQ(fixture_.CallsOf("POST") + fixture_.CallsOf("PATCH"), 0);
  fixture_.RemoveJob();
  fixture_.Settle();
  fixture_.PutJob(managed_by("pstrain.dev/operator"));
  fixture_.Settle();
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
}

}  // namespace
}  // namespace pstrain::job
