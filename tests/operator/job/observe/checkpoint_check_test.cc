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
    world_.server().Put(kube::PersistentVolumeClaimResource(),
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
  int Looks() { return world_.CallsOf("GET /api/v1/namespaces/ml/persistentvolumeclaims/shared"); }

  ReconcilerFixture world_;
};

TEST_F(CheckpointCheckTest, AClaimForOneNode_IsAConditionAndOneEventAndTheJobStarts) {
  PutClaim("ReadWriteOnce");
  world_.PutJob(Train);
  world_.RunFor(seconds(60));
  EXPECT_EQ(world_.ConditionOf(kCheckpointNotShared), "True");
  EXPECT_THAT(world_.MessageOf(kCheckpointNotShared),
              AllOf(HasSubstr("ClaimNotReadWriteMany"), HasSubstr("Claim shared,"),
                    HasSubstr("ReadWriteOnce"), HasSubstr("use a claim with")));
  EXPECT_EQ(world_.PodNames().size(), 4U);
  EXPECT_EQ(Looks(), 1);
  world_.RestartOperator();
  world_.Settle();
  EXPECT_EQ(Looks(), 2);
  EXPECT_THAT(world_.FinishEvents(), Contains("ClaimNotReadWriteMany").Times(1));
}

TEST_F(CheckpointCheckTest, ASharedClaim_IsReadOnceAndNoCondition) {
  PutClaim("ReadWriteMany");
  world_.PutJob(Train);
  world_.RunFor(minutes(30));
  EXPECT_EQ(world_.ConditionOf(kCheckpointNotShared), "");
  EXPECT_EQ(Looks(), 1);
}

TEST_F(CheckpointCheckTest, AClaimThatIsMended_IsSeenWithinFiveMinutes) {
  PutClaim("ReadWriteOnce");
  world_.PutJob(Train);
  world_.RunFor(seconds(10));
  PutClaim("ReadWriteMany");
  world_.RunFor(minutes(5));
  EXPECT_EQ(world_.ConditionOf(kCheckpointNotShared), "False");
  EXPECT_THAT(world_.MessageOf(kCheckpointNotShared), HasSubstr("CheckpointShared"));
  world_.RunFor(minutes(30));
  EXPECT_EQ(Looks(), 2);
}

TEST_F(CheckpointCheckTest, AnotherSpecification_IsLookedAtAtOnce) {
  PutClaim("ReadWriteMany");
  world_.PutJob(Train);
  world_.Settle();
  world_.EditJob([](Json& job) { SetVolume(job, R"({"name": "c", "emptyDir": {}})"); });
  world_.Settle();
  EXPECT_EQ(world_.ConditionOf(kCheckpointNotShared), "True");
  EXPECT_THAT(world_.MessageOf(kCheckpointNotShared), HasSubstr("CheckpointVolumePerPod"));
  const int calls = world_.Calls();
  world_.RunFor(minutes(30));
  EXPECT_EQ(world_.Calls(), calls) << "only another specification could change that";
  EXPECT_EQ(Looks(), 1);
}

TEST_F(CheckpointCheckTest, AMissingClaimOrPermission_SaysNothingAndCostsACallEachFiveMinutes) {
  for (const bool forbidden : {false, true}) {
    ReconcilerFixture world;
    if (forbidden) {
      world.server().FailNext("persistentvolumeclaims",
                              {403, StatusBody(403, "Forbidden", "cannot get"), {}}, 1000);
    }
    world.PutJob(Train);
    world.RunFor(minutes(12));
    EXPECT_EQ(world.ConditionOf(kCheckpointNotShared), "");
    EXPECT_EQ(world.PodNames().size(), 4U);
    EXPECT_EQ(world.CallsOf("persistentvolumeclaims"), 3);
  }
}

TEST_F(CheckpointCheckTest, AFinishedJob_IsNotLookedAt) {
  PutClaim("ReadWriteOnce");
  world_.PutJob(Train);
  world_.Settle();
  world_.RunAllPods();
  world_.Settle();
  world_.EndPod("byo-chief-0", 0);
  world_.Settle();
  ASSERT_EQ(world_.StatusOfJob().phase(), JobStatus::Succeeded);
  const int looks = Looks();
  world_.RestartOperator();
  world_.RunFor(minutes(30));
  EXPECT_EQ(Looks(), looks);
  EXPECT_EQ(world_.ConditionOf(kCheckpointNotShared), "True");
}

}  // namespace
}  // namespace pstrain::job
