// What the policies of a job come to in a cluster: its pods, its status and its events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

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
  EXPECT_EQ(fixture_.MessageOf("Succeeded"), "all workers have finished");
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-ps-0")));
}

TEST_F(JobReconcilerPoliciesTest, WhenWorker0IsToSucceed_ItEndsTheJobAlone) {
  fixture_.StartJob(Chiefless("Worker0"));
  fixture_.EndPod("byo-worker-0", 0);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Succeeded);
  EXPECT_THAT(fixture_.PodNames(), UnorderedElementsAre("byo-worker-0"));
}

}  // namespace
}  // namespace pstrain::job
