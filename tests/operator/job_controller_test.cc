#include "operator/job_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/job/observe/job_view.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/conditions.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// All of the operator but its connections and its Lease, against an apiserver in this process.
class JobControllerTest : public ::testing::Test {
 protected:
  /// A chief and so many workers that run their own program.
  void PutJob(const std::string& name, int workers) {
    const std::string role = R"("template": {"spec": {"containers": [{"image": "mine"}]}})";
    server().Put(job::JobResource(),
                 *ParseJson(R"({"apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob",
                     "metadata": {"name": ")" +
                            name + R"(", "namespace": "ml", "generation": 1},
                     "spec": {"replicaSpecs": {"chief": {)" +
                            role + R"(}, "ps": {"replicas": 0}, "worker": {"replicas": )" +
                            std::to_string(workers) + ", " + role + "}}}}"));
  }
  void SetWorkers(const std::string& name, int workers) {
    Json job = *server().Find(job::JobResource(), {"ml", name});
    Json& roles = *job.FindMutable("spec")->FindMutable("replicaSpecs");
    roles.FindMutable("worker")->Set("replicas", Json::Int(workers));
    server().Put(job::JobResource(), std::move(job));
  }
  std::vector<std::string> PodNames() {
    std::vector<std::string> names;
    for (const Json& pod : server().All(kube::PodResource())) {
      names.push_back(kube::TextOrEmpty(pod.Find("metadata"), "name"));
    }
    return names;
  }
  bool WaitForPods(std::size_t count) {
    return server().WaitUntil([&] { return PodNames().size() == count; });
  }
  void RunPod(const std::string& name) {
    Json pod = *server().Find(kube::PodResource(), {"ml", name});
    pod.Set("status", *ParseJson(R"({"phase": "Running",
                          "conditions": [{"type": "Ready", "status": "True"}]})"));
    server().Put(kube::PodResource(), std::move(pod));
  }
  JobStatus StatusOf(const std::string& name) {
    return job::DecodeJobStatus(*server().Find(job::JobResource(), {"ml", name}));
  }
  bool WaitForCondition(const std::string& name, const std::string& type,
                        const std::string& value) {
    return server().WaitUntil([&] {
      const JobStatus status = StatusOf(name);
      const Condition* condition = plan::FindCondition(status, type);
      return condition != nullptr && condition->status() == value;
    });
  }
  void Start() {
    controller_ = std::make_unique<JobController>(api_.client(), api_.pause(), clock_,
                                                  OperatorOptions(), "test");
  }
  void Lead() {
    thread_ = std::jthread([this](const std::stop_token& stop) { controller_->Run(stop); });
  }
  void TearDown() override {
    thread_ = {};
    controller_.reset();
  }

  testing::FakeApiserver& server() { return api_.server(); }

  const RealClock clock_;
  kube::ApiFixture api_;
  std::unique_ptr<JobController> controller_;
  std::jthread thread_;
};

TEST_F(JobControllerTest, AJob_BecomesPodsAndTheirStateItsStatus) {
  Start();
  Lead();
  PutJob("a", 2);
  ASSERT_TRUE(WaitForPods(3));
  EXPECT_THAT(PodNames(), UnorderedElementsAre("a-chief-0", "a-worker-0", "a-worker-1"));
  EXPECT_EQ(server().All(kube::ServiceResource()).size(), 1U);
  for (const std::string& name : PodNames()) RunPod(name);
  ASSERT_TRUE(WaitForCondition("a", "Running", "True"));
  EXPECT_EQ(StatusOf("a").replica_statuses().at("worker").summary(), "2/2");
  server().Remove(kube::PodResource(), {"ml", "a-worker-1"});
  ASSERT_TRUE(WaitForPods(3));
  EXPECT_THAT(PodNames(), UnorderedElementsAre("a-chief-0", "a-worker-0", "a-worker-1-1"));
}

TEST_F(JobControllerTest, AJobThatDoesNotParse_GetsAConditionAndDisturbsNoOther) {
  PutJob("bad", -5);
  Start();
  Lead();
  ASSERT_TRUE(WaitForCondition("bad", "Accepted", "False"));
  const JobStatus refused = StatusOf("bad");
  EXPECT_THAT(plan::FindCondition(refused, "Accepted")->message(),
              HasSubstr("spec.replicaSpecs.worker.replicas: must be at least 0"));
  PutJob("good", 1);
  ASSERT_TRUE(WaitForPods(2));
  EXPECT_THAT(PodNames(), UnorderedElementsAre("good-chief-0", "good-worker-0"));
  SetWorkers("bad", 1);
  ASSERT_TRUE(WaitForPods(4));
  ASSERT_TRUE(WaitForCondition("bad", "Accepted", "True"));
}

TEST_F(JobControllerTest, WhileAnotherLeads_OnlyTheCachesFill) {
  PutJob("a", 1);
  Start();
  ASSERT_TRUE(server().WaitUntil([this] { return controller_->Synced().ok(); }));
  EXPECT_THAT(PodNames(), IsEmpty());
  EXPECT_EQ(server().CountRequests("POST") + server().CountRequests("PATCH"), 0);
  Lead();
  EXPECT_TRUE(WaitForPods(2));
  EXPECT_EQ(server().CountRequests("limit="), 4) << "a list of each kind, before it led";
}

TEST_F(JobControllerTest, WhenTheServerLosesItsHistory_GoesOn) {
  Start();
  Lead();
  PutJob("a", 1);
  ASSERT_TRUE(WaitForPods(2));
  for (const std::string& name : PodNames()) RunPod(name);
  ASSERT_TRUE(WaitForCondition("a", "Running", "True"));
  server().ExpireVersions();
  server().Remove(kube::PodResource(), {"ml", "a-worker-0"});
  ASSERT_TRUE(server().WaitUntil(
      [this] { return server().Find(kube::PodResource(), {"ml", "a-worker-0-1"}).has_value(); }));
  PutJob("b", 1);
  EXPECT_TRUE(WaitForPods(4));
}

}  // namespace
}  // namespace pstrain
