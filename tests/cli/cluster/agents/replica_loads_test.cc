#include "cli/cluster/agents/replica_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;

class ReplicaLoadsTest : public SessionFixture {
 protected:
  ReplicaLoads Measure() {
    pods_ = api_.server().All(kube::PodResource());
    return MeasureLoads(session(), NewestPods(pods_), std::chrono::seconds(2));
  }
  std::vector<Json> pods_;
};

TEST_F(ReplicaLoadsTest, Measure_OfEachRole_HasWhatItDoes) {
  PutPod("a-ps-0", "ps", "0", "0");
  PutAgentPage("a-chief-0-x", "/metrics",
               "pstrain_chief_examples_committed 100\n"
               "process_cpu_seconds_total{process=\"agent\"} 9\n"
               "process_cpu_seconds_total{process=\"runtime\"} 1\n"
               "process_resident_memory_bytes{process=\"agent\"} 5\n"
               "process_resident_memory_bytes{process=\"runtime\"} 1048576\n");
  PutAgentPage("a-ps-0", "/metrics",
               "pstrain_ps_updates_total{result=\"applied\"} 4\n"
               "pstrain_ps_updates_total{result=\"deduplicated\"} 1000\n"
               "pstrain_ps_busy_seconds_total 1\n");
  PutAgentPage("a-worker-1-x", "/metrics",
               "pstrain_worker_examples_total 10\n"
               "pstrain_worker_phase_seconds_total{phase=\"compute\"} 1\n"
               "pstrain_worker_phase_seconds_total{phase=\"wait\"} 70\n");
  pause_.meanwhile = [this] {
    PutAgentPage("a-chief-0-x", "/metrics",
                 "pstrain_chief_examples_committed 300\n"
                 "process_cpu_seconds_total{process=\"agent\"} 99\n"
                 "process_cpu_seconds_total{process=\"runtime\"} 1.5\n"
                 "process_resident_memory_bytes{process=\"agent\"} 5\n"
                 "process_resident_memory_bytes{process=\"runtime\"} 2097152\n");
    PutAgentPage("a-ps-0", "/metrics",
                 "pstrain_ps_updates_total{result=\"applied\"} 10\n"
                 "pstrain_ps_updates_total{result=\"deduplicated\"} 2000\n"
                 "pstrain_ps_busy_seconds_total 2\n");
    PutAgentPage("a-worker-1-x", "/metrics",
                 "pstrain_worker_examples_total 5\n"
                 "pstrain_worker_phase_seconds_total{phase=\"compute\"} 2.5\n"
                 "pstrain_worker_phase_seconds_total{phase=\"wait\"} 80\n");
  };
  const ReplicaLoads loads = Measure();
  ASSERT_EQ(loads.replicas.size(), 3U);
  const ReplicaLoad& chief = loads.replicas[0];
  EXPECT_EQ(RateText(chief), "100.0 examples/s");
  EXPECT_EQ(ShareText(chief.busy), "25%");
  EXPECT_EQ(BytesText(chief.memory_bytes), "2.0 MiB");
  const ReplicaLoad& ps = loads.replicas[1];
  EXPECT_EQ(RateText(ps), "3.0 updates/s");
  EXPECT_EQ(ShareText(ps.busy), "50%");
  EXPECT_EQ(BytesText(ps.memory_bytes), "-");
  const ReplicaLoad& worker = loads.replicas[2];
  EXPECT_EQ(RateText(worker), "-") << "its counter has begun again";
  EXPECT_EQ(ShareText(worker.busy), "75%");
  EXPECT_EQ(worker.node, "node-of-worker");
}

TEST_F(ReplicaLoadsTest, Measure_AsksOnlyWhatRuns) {
  PutPod("a-worker-2", "worker", "2", "0", R"({"phase":"Pending"})");
  PutPod("a-worker-3", "worker", "3", "0", R"({"phase":"Succeeded"})");
  EXPECT_EQ(Measure().replicas.size(), 2U);
  EXPECT_EQ(api_.server().CountRequests("a-worker-2"), 0);
}

TEST_F(ReplicaLoadsTest, Measure_WhenAnAgentDoesNotAnswer_SaysWhy) {
  PutAgentPage("a-chief-0-x", "/metrics", "x 1\n");
  Fail("a-worker-1-x", 503, "error trying to reach service: dial tcp");
  const ReplicaLoads loads = Measure();
  EXPECT_EQ(loads.replicas[0].problem, "");
  EXPECT_THAT(loads.replicas[1].problem, HasSubstr("dial tcp"));
  EXPECT_EQ(api_.server().CountRequests("a-worker-1-x%3A9464/proxy/metrics"), 2);
}

TEST_F(ReplicaLoadsTest, Measure_WhenNotPermitted_SaysSo) {
  Fail("/proxy/", 403, "no way");
  const ReplicaLoads loads = Measure();
  ASSERT_TRUE(loads.forbidden);
  EXPECT_EQ(loads.forbidden->exit_code, kExitForbidden);
  EXPECT_THAT(loads.forbidden->sentence, HasSubstr("you may not get pods/proxy in namespace ns"));
}

}  // namespace
}  // namespace pstrain::cluster
