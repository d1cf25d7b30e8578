#include "operator/job/observe/checkpoint_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "operator/job/observe/checkpoint_volume.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using pstrain::testing::StatusBody;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kTraining[] = R"({"model": {"wideAndDeep": {}},
    "features": [{"name": "age", "numeric": {}}],
    "input": {"csv": {"files": ["/d"], "header": true, "labelColumn": "y"}},
    "optimizer": {"sgd": {}}, "batchSize": 8, "checkpoint": {"directory": "/c/run"}})";

/// A job that trains, its checkpoints on the claim "shared".
class CheckpointCheckTest : public ::testing::Test {
 protected:
  void PutClaim(const std::string& mode) {
    fixture_.server().Put(kube::PersistentVolumeClaimResource(),
                          *ParseJson(R"({"metadata": {"name": "shared", "namespace": "ml"},
                                       "spec": {"accessModes": [")" +
                                     mode + "\"]}}"));
  }
  static void Train(Json& job) {
    At(job, {"spec"}).Set("training", *ParseJson(kTraining));
    SetVolume(job, R"({"persistentVolumeClaim": {"claimName": "shared"}, "name": "c"})");
  }
  static void SetVolume(Json& job, const std::string& volume) {
    for (const char* role : {"chief", "ps", "worker"}) {
      Json& spec = At(job, {"spec", "replicaSpecs", role, "template", "spec"});
      spec.Set("volumes", *ParseJson("[" + volume + "]"));
      At(spec, {"containers"})
          .mutable_items()
          .front()
          .Set("volumeMounts", *ParseJson(R"([{"name": "c", "mountPath": "/c"}])"));
    }
  }
  int Checks() {
    return fixture_.CallsOf("GET /api/v1/namespaces/ml/persistentvolumeclaims/shared");
  }

  ReconcilerFixture fixture_;
};

TEST_F(CheckpointCheckTest, AClaimForOneNode_IsAConditionAndOneEventAndTheJobStarts) {
  PutClaim("ReadWriteOnce");
  fixture_.PutJob(Train);
  fixture_.RunFor(seconds(60));
  EXPECT_EQ(fixture_.ConditionOf(kCheckpointNotShared), "True");
  EXPECT_THAT(fixture_.MessageOf(kCheckpointNotShared),
              AllOf(HasSubstr("ClaimNotReadWriteMany"), HasSubstr("Claim shared,"),
                    HasSubstr("ReadWriteOnce"), HasSubstr("use a claim with")));
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_EQ(Checks(), 1);
  fixture_.RestartOperator();
  fixture_.Settle();
  EXPECT_EQ(Checks(), 2);
  EXPECT_THAT(fixture_.FinishEvents(), Contains("ClaimNotReadWriteMany").Times(1));
}

TEST_F(CheckpointCheckTest, ASharedClaim_IsReadOnceAndNoCondition) {
  PutClaim("ReadWriteMany");
  fixture_.PutJob(Train);
  fixture_.RunFor(minutes(30));
  EXPECT_EQ(fixture_.ConditionOf(kCheckpointNotShared), "");
  EXPECT_EQ(Checks(), 1);
}

TEST_F(CheckpointCheckTest, AClaimThatIsMended_IsSeenWithinFiveMinutes) {
  PutClaim("ReadWriteOnce");
  fixture_.PutJob(Train);
  fixture_.RunFor(seconds(10));
  PutClaim("ReadWriteMany");
  fixture_.RunFor(minutes(5));
  EXPECT_EQ(fixture_.ConditionOf(kCheckpointNotShared), "False");
  EXPECT_THAT(fixture_.MessageOf(kCheckpointNotShared), HasSubstr("CheckpointShared"));
  fixture_.RunFor(minutes(30));
  EXPECT_EQ(Checks(), 2);
}

TEST_F(CheckpointCheckTest, AnotherSpecification_IsLookedAtAtOnce) {
  PutClaim("ReadWriteMany");
  fixture_.PutJob(Train);
  fixture_.Settle();
  fixture_.EditJob([](Json& job) { SetVolume(job, R"({"name": "c", "emptyDir": {}})"); });
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf(kCheckpointNotShared), "True");
  EXPECT_THAT(fixture_.MessageOf(kCheckpointNotShared), HasSubstr("CheckpointVolumePerPod"));
  // The operator reads the cluster's keys anyway (peer_identity_test.cc).
  const auto calls = [this] { return fixture_.Calls() - fixture_.CallsOf("/openid"); };
  const int before = calls();
  fixture_.RunFor(minutes(30));
  EXPECT_EQ(calls(), before) << "only another specification could change that";
  EXPECT_EQ(Checks(), 1);
}

TEST_F(CheckpointCheckTest, AMissingClaimOrPermission_SaysNothingAndCostsACallEachFiveMinutes) {
  for (const bool forbidden : {false, true}) {
    ReconcilerFixture fixture;
    if (forbidden) {
      fixture.server().FailNext("persistentvolumeclaims",
                                {403, StatusBody(403, "Forbidden", "cannot get"), {}}, 1000);
    }
    fixture.PutJob(Train);
    fixture.RunFor(minutes(12));
    EXPECT_EQ(fixture.ConditionOf(kCheckpointNotShared), "");
    EXPECT_EQ(fixture.PodNames().size(), 4U);
    EXPECT_EQ(fixture.CallsOf("persistentvolumeclaims"), 3);
  }
}

TEST_F(CheckpointCheckTest, AFinishedJob_IsNotLookedAt) {
  PutClaim("ReadWriteOnce");
  fixture_.PutJob(Train);
  fixture_.Settle();
  fixture_.RunAllPods();
  fixture_.Settle();
  fixture_.PollChief(0, R"("examples_expected": 80, "examples_committed": 80, "applied_min": 80,
                           "applied_max": 80)");
  fixture_.EndPod("byo-chief-0", 0);
  fixture_.Settle();
  ASSERT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  const int checks = Checks();
  fixture_.RestartOperator();
  fixture_.RunFor(minutes(30));
  EXPECT_EQ(Checks(), checks);
  EXPECT_EQ(fixture_.ConditionOf(kCheckpointNotShared), "True");
}

}  // namespace
}  // namespace pstrain::job
