#include "operator/job/observe/node_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A job of your own program whose worker-0 runs on n1 and was deleted; its node does not answer.
class LostNodeTest : public ::testing::Test {
 protected:
  void Start(const ReconcilerFixture::Change& change = {}) {
    PutNode("");
    fixture_.StartJob([&](Json& job) {
      for (const char* role : {"chief", "worker"}) {
        At(job, {"spec", "replicaSpecs", role})
            .Set("replacement", Json::String("AfterTermination"));
      }
      if (change) change(job);
    });
    fixture_.server().LingerOnDelete(kube::PodResource());
  }
  void PutNode(const std::string& taint_key) {
    Json node = *ParseJson(R"({"metadata": {"name": "n1"}, "spec": {}})");
    if (!taint_key.empty()) {
      At(node, {"spec"})
          .Set("taints", *ParseJson(R"([{"key": ")" + taint_key + R"(", "effect": "NoExecute"}])"));
    }
    fixture_.server().Put(kube::NodeResource(), std::move(node));
  }
  /// Deletes it with a grace period of 30 s.
  void DeletePod(const std::string& name) {
    fixture_.EditPod(name, [this](Json& pod) {
      At(pod, {"spec"}).Set("nodeName", Json::String("n1"));
      At(pod, {"metadata"}).Set("deletionTimestamp", Json::String(fixture_.TimeAfter(seconds(30))));
    });
    fixture_.Settle();
  }
  int Looks() { return fixture_.CallsOf("GET /api/v1/nodes/n1"); }

  ReconcilerFixture fixture_;
};

TEST_F(LostNodeTest, WhileTheNodeIsThere_NothingIsForcedAndTheNodeReadTwiceAMinute) {
  Start();
  DeletePod("byo-worker-0");
  fixture_.RunFor(seconds(39));
  EXPECT_EQ(Looks(), 0);
  fixture_.RunFor(seconds(301));
  EXPECT_EQ(Looks(), 11);
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-1")));
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 0);
  EXPECT_THAT(fixture_.MessageOf("Restarting"), HasSubstr("worker-0 waits for its attempt 0"));
  fixture_.RemovePod("byo-worker-0");
  fixture_.RunFor(seconds(60));
  EXPECT_EQ(Looks(), 11);
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
}

TEST_F(LostNodeTest, WhenTheNodeIsDeleted_ThePodIsDeletedByForceAndReplaced) {
  Start();
  DeletePod("byo-worker-0");
  fixture_.RunFor(seconds(60));
  fixture_.server().Remove(kube::NodeResource(), {"", "n1"});
  fixture_.RunFor(seconds(31));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_EQ(fixture_.CallsOf("DELETE /api/v1/namespaces/ml/pods/byo-worker-0"), 1);
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 1);
  fixture_.RemovePod("byo-worker-0");
  fixture_.RunFor(seconds(60));
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 1);
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 1);
}

TEST_F(LostNodeTest, WhenTheNodeIsOutOfService_TheSame) {
  Start();
  PutNode("node.kubernetes.io/out-of-service");
  DeletePod("byo-worker-0");
  fixture_.RunFor(seconds(41));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
}

TEST_F(LostNodeTest, WhenItIsTaintedForAnotherReason_ItMayStillRunThePod) {
  Start();
  PutNode("node.kubernetes.io/unreachable");
  DeletePod("byo-worker-0");
  fixture_.RunFor(seconds(300));
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-1")));
}

TEST_F(LostNodeTest, WhenNodesCannotBeRead_TheReplacementTimeoutHolds) {
  Start([](Json& job) {
    At(job, {"spec", "replicaSpecs", "worker"}).Set("replacementTimeoutSeconds", Json::Int(100));
  });
  fixture_.server().Remove(kube::NodeResource(), {"", "n1"});
  fixture_.server().FailNext(
      "nodes", {403, pstrain::testing::StatusBody(403, "Forbidden", "nodes is forbidden"), {}},
      100);
  DeletePod("byo-worker-0");
  fixture_.RunFor(seconds(129));
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-1")));
  fixture_.RunFor(seconds(2));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
}

TEST_F(LostNodeTest, WhileTheChiefsNodeIsAway_ASuspensionEnds) {
  Start();
  fixture_.EditJob(
      [](Json& job) { At(job, {"spec", "runPolicy"}).Set("suspend", Json::Bool(true)); });
  fixture_.Settle();
  DeletePod("byo-chief-0");
  fixture_.RunFor(seconds(60));
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 1) << "the chief alone";
  EXPECT_THAT(fixture_.MessageOf("Suspended"), HasSubstr("chief-0"));
  fixture_.server().Remove(kube::NodeResource(), {"", "n1"});
  fixture_.RunFor(seconds(31));
  EXPECT_EQ(fixture_.CallsOf("DELETE"), 5);
  for (const std::string& name : fixture_.PodNames()) fixture_.RemovePod(name);
  fixture_.Settle();
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Suspended);
  EXPECT_TRUE(fixture_.PodNames().empty());
  EXPECT_EQ(fixture_.StatusOfJob().restarts().disruptions(), 0);
}

}  // namespace
}  // namespace pstrain::job
