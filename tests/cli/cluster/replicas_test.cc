#include "cli/cluster/replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

class ReplicasTest : public SessionFixture {
 protected:
  std::vector<Json> Pods() { return api_.server().All(kube::PodResource()); }
};

TEST_F(ReplicasTest, Newest_CountsAttemptsAsNumbers) {
  PutPod("a-worker-1-y", "worker", "1", "10");
  PutPod("a-worker-1-a", "worker", "1", "9");
  const std::vector<Json> pods = Pods();
  EXPECT_EQ(ReplicaPods(pods).size(), 4U);
  const std::vector<ReplicaPod> newest = NewestPods(pods);
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[1].PodName(), "a-worker-1-y");
  EXPECT_EQ(ReplicaNames(ReplicaPods(pods)), "chief-0, worker-1");
}

TEST_F(ReplicasTest, Over_IsWhoseTrainingContainerHasEnded) {
  const auto why = [](const std::string& metadata, const std::string& status) {
    return WhyOver(Parsed(R"({"metadata":{)" + metadata +
                          R"("annotations":{"pstrain.dev/training-container":"main"}},
                             "spec":{"containers":[{"name":"side"},{"name":"main"}]},"status":)" +
                          status + "}"));
  };
  EXPECT_EQ(why("", R"({"phase":"Running"})"), "");
  EXPECT_EQ(why("", R"({"phase":"Pending"})"), "");
  EXPECT_EQ(why("", R"({"phase":"Failed"})"), "has ended (Failed)");
  EXPECT_EQ(why(R"("deletionTimestamp":"x",)", R"({"phase":"Running"})"), "is being deleted");
  EXPECT_EQ(why("", R"({"phase":"Running","containerStatuses":[
                     {"name":"main","state":{"terminated":{}}}]})"),
            "has ended");
  EXPECT_EQ(why("", R"({"phase":"Running","containerStatuses":[
                     {"name":"side","state":{"terminated":{}}}]})"),
            "");
}

TEST_F(ReplicasTest, Recorded_AreThoseOfTheStatus) {
  const Json job = *api_.server().Find(JobResource(), {"ns", "a"});
  const std::vector<RecordedReplica> recorded = RecordedReplicas(job);
  ASSERT_EQ(recorded.size(), 2U);
  EXPECT_EQ(recorded[0].role, "worker");
  EXPECT_EQ(recorded[0].index, 1);
}

}  // namespace
}  // namespace pstrain::cluster
