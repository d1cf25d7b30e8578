#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "operator/kube/json_fields.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using pstrain::testing::StatusBody;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Jobs that cannot run as they are.
class BlockedJobTest : public ::testing::Test {
 protected:
  /// A refusal of the creation of one kind, for good.
  void RefuseCreates(const std::string& plural, int code, const std::string& reason,
                     const std::string& message) {
    fixture_.server().FailNext("POST /api/v1/namespaces/ml/" + plural,
                               {code, StatusBody(code, reason, message), {}}, 1'000'000);
  }
  /// One minute of a job that cannot run: few calls, one condition, one event.
  void ExpectQuietlyBlocked(const std::string& reason) {
    fixture_.PutJob();
    fixture_.RunFor(seconds(60));
    EXPECT_EQ(fixture_.ConditionOf("Blocked"), "True");
    EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr(reason + ": "));
    EXPECT_THAT(fixture_.FinishEvents(), ElementsAre(reason));
    EXPECT_LE(fixture_.Calls() + fixture_.CallsOf("/events"), 10);
  }

  ReconcilerFixture fixture_;
};

TEST_F(BlockedJobTest, AnExceededQuota_IsQuiet) {
  RefuseCreates("pods", 403, "Forbidden", "pods \"x\" is forbidden: exceeded quota: q");
  ExpectQuietlyBlocked("QuotaExceeded");
}

TEST_F(BlockedJobTest, AViolationOfPodSecurity_IsQuiet) {
  RefuseCreates("pods", 403, "Forbidden", "pods \"x\" is forbidden: violates PodSecurity");
  ExpectQuietlyBlocked("PodSecurityViolation");
}

TEST_F(BlockedJobTest, AMissingPermission_IsQuiet) {
  RefuseCreates("services", 403, "Forbidden", "services is forbidden: User cannot create");
  ExpectQuietlyBlocked("CreateForbidden");
}

TEST_F(BlockedJobTest, AWebhookThatDoesNotAnswer_IsQuiet) {
  RefuseCreates("pods", 500, "InternalError", "failed calling webhook \"w\"");
  ExpectQuietlyBlocked("CreateFailed");
}

TEST_F(BlockedJobTest, ATemplateThatCannotBeUsed_IsQuietUntilItIsCorrected) {
  fixture_.PutJob([](Json& job) {
    At(job, {"spec", "replicaSpecs", "chief", "template", "spec"})
        .Set("volumes", *ParseJson(R"({"data": {}})"));
  });
  fixture_.RunFor(seconds(60));
  EXPECT_THAT(fixture_.MessageOf("Accepted"),
              HasSubstr("InvalidTemplate: spec.replicaSpecs.chief"));
  EXPECT_LE(fixture_.Calls(), 10);
  fixture_.EditJob([](Json& job) {
    At(job, {"spec", "replicaSpecs", "chief", "template", "spec"}).Set("volumes", Json::Array());
  });
  fixture_.Settle();  // immediately, though the next try was due later
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "True");
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_THAT(fixture_.FinishEvents(), Contains("InvalidTemplate").Times(1));
}

TEST_F(BlockedJobTest, AnImageThatCannotBePulled_IsOneConditionAndOneEvent) {
  fixture_.PutJob();
  fixture_.Settle();
  const int before = fixture_.Calls();
  for (int i = 0; i < 8; ++i) {
    const std::string state = i % 2 == 0
                                  ? R"({"reason": "ErrImagePull", "message": "no such host"})"
                                  : R"({"reason": "ImagePullBackOff", "message": "Back-off"})";
    fixture_.SetPodStatus("byo-worker-0", R"({"phase": "Pending", "containerStatuses":
        [{"name": "c", "state": {"waiting": )" +
                                              state + "}}]}");
    fixture_.Settle();
  }
  EXPECT_EQ(fixture_.Calls() - before, 1);
  EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr("no such host"));
  EXPECT_THAT(fixture_.FinishEvents(), Contains("ImagePullBackOff").Times(1));
}

TEST_F(BlockedJobTest, APodThatTheKubeletRefusesForEver_IsQuietAndSaysWhatToDo) {
  fixture_.StartJob();
  fixture_.RemovePod("byo-worker-0");
  int calls_before_the_last_minute = 0;
  for (int second = 0; second < 600; ++second) {
    if (second == 540) calls_before_the_last_minute = fixture_.Calls();
    fixture_.RunFor(seconds(1));
    for (const std::string& name : fixture_.PodNames()) {
      const Json pod = fixture_.Pod(name);
      const bool has_phase = kube::FindPath(pod, {"status", "phase"}) != nullptr;
      if (!name.starts_with("byo-worker-0") || has_phase) continue;
      fixture_.SetPodStatus(name, R"({"phase": "Failed", "reason": "OutOfcpu",
          "message": "Pod was rejected: Node didn't have enough resource: cpu"})");
    }
  }
  EXPECT_LE(fixture_.Calls() - calls_before_the_last_minute, 10);
  EXPECT_EQ(fixture_.ConditionOf("Blocked"), "True");
  EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr("OutOfcpu: pod byo-worker-0-"));
  EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr("remove nodeName from the template"));
  EXPECT_THAT(fixture_.MessageOf("Restarting"),
              HasSubstr("the last was worker-0: OutOfcpu: Pod was rejected"));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 0);
  EXPECT_LE(fixture_.StatusOfJob().restarts().disruptions(), 12);
  EXPECT_THAT(fixture_.FinishEvents(), Contains("OutOfcpu").Times(1));
}

TEST_F(BlockedJobTest, ARefusedCreate_DoesNotKeepOtherPodsFromGoing) {
  fixture_.StartJob();
  RefuseCreates("pods", 403, "Forbidden", "exceeded quota: q");
  fixture_.RemovePod("byo-ps-0");
  fixture_.EditJob(
      [](Json& job) { At(job, {"spec", "replicaSpecs", "worker"}).Set("replicas", Json::Int(1)); });
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("Blocked"), "True");
  EXPECT_THAT(fixture_.PodNames(), UnorderedElementsAre("byo-chief-0", "byo-worker-0"));
}

}  // namespace
}  // namespace pstrain::job
