// Another number of ps while the job runs: what the operator tells the chief, and in which order it
// acts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr char kChief[] = "byo-chief-0";
constexpr char kPatch[] = "PATCH /api/v1/namespaces/ml/pods/byo-chief-0";

void SetPs(Json& job, int ps) {
  At(job, {"spec", "replicaSpecs", "ps"}).Set("replicas", Json::Int(ps));
}

class PsCountTest : public ::testing::Test {
 protected:
  void StartTraining() {
    fixture_.StartJob([](Json& job) {
      Train(job);
      SetPs(job, 2);
    });
    ASSERT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Running) << fixture_.MessageOf("Accepted");
  }
  void Scale(int ps) {
    fixture_.EditJob([ps](Json& job) { SetPs(job, ps); });
  }
  std::string Told(const std::string& pod = kChief) const {
    const Json object = fixture_.Pod(pod);
    const Json* annotations = kube::FindPath(object, {"metadata", "annotations"});
    return kube::TextOrEmpty(annotations, kPsReplicasAnnotation);
  }
  /// The place of the last request that begins like this.
  std::ptrdiff_t Last(const std::string& begin) {
    const std::vector<std::string> requests = fixture_.server().requests();
    const auto found =
        std::find_if(requests.rbegin(), requests.rend(),
                     [&](const std::string& request) { return request.starts_with(begin); });
    return requests.rend() - found - 1;
  }

  ReconcilerFixture fixture_;
};

TEST_F(PsCountTest, WhenRaised_TheChiefIsToldOnceAndBeforeTheNewPsIsMade) {
  StartTraining();
  EXPECT_EQ(Told(), "2");
  EXPECT_EQ(fixture_.CallsOf(kPatch), 0);
  Scale(3);
  fixture_.SyncJobs();
  // The cache of pods does not show the annotation yet.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  fixture_.Settle();
  EXPECT_EQ(Told(), "3");
  EXPECT_EQ(fixture_.CallsOf(kPatch), 1);
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-ps-2"));
  EXPECT_LT(Last(kPatch), Last("POST /api/v1/namespaces/ml/pods"));
  EXPECT_THAT(fixture_.FinishEvents(), Contains("PsScaled").Times(1));
}

TEST_F(PsCountTest, WhenLowered_TheChiefIsToldBeforeThePsAreDeletedAndNothingCountsAsAnEnd) {
  StartTraining();
  Scale(1);
  fixture_.Settle();
  EXPECT_EQ(Told(), "1");
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-ps-1")));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-ps-0"));
  EXPECT_LT(Last(kPatch), Last("DELETE /api/v1/namespaces/ml/pods/byo-ps-1"));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().failures(), 0);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
}

TEST_F(PsCountTest, WhenTheChiefIsReplaced_ItsNextAttemptHasTheNewNumber) {
  StartTraining();
  fixture_.EndPod(kChief, 85);
  Scale(3);
  fixture_.Settle();
  EXPECT_EQ(Told("byo-chief-0-1"), "3");
  EXPECT_EQ(fixture_.CallsOf("PATCH /api/v1"), 0) << "an ended pod is told nothing";
}

TEST_F(PsCountTest, WhenTheAnnotationIsChangedByAnother_ItIsPutRight) {
  StartTraining();
  Scale(3);
  fixture_.Settle();
  fixture_.EditPod(kChief, [](Json& pod) {
    At(pod, {"metadata", "annotations"}).Set(kPsReplicasAnnotation, Json::String("7"));
  });
  fixture_.Settle();
  EXPECT_EQ(Told(), "3");
}

TEST_F(PsCountTest, OfAJobThatRunsItsOwnProgram_NobodyIsTold) {
  fixture_.StartJob();
  EXPECT_EQ(Told(), "");
  Scale(2);
  fixture_.Settle();
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-ps-1"));
  EXPECT_EQ(Told(), "");
}

}  // namespace
}  // namespace pstrain::job
