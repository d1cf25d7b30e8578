#include "cli/cluster/describe_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DescribeConfigTest : public SessionFixture {
 protected:
  void PutConfig(const std::string& name, const std::string& made) {
    api_.server().Put(
        kube::ConfigMapResource(),
        Parsed(R"({"metadata":{"namespace":"ns","name":")" + name + R"(","creationTimestamp":")" +
               made + R"(","labels":{"pstrain.dev/job-name":"a"}},
                "data":{"job.yaml":"job of )" +
               name + R"(","cluster":"{\"ps\":[]}"}})"));
  }
  /// The chief's pod as the operator makes it, with this ConfigMap.
  void PutChief(const std::string& config) {
    Json pod = *api_.server().Find(kube::PodResource(), {"ns", "a-chief-0-x"});
    pod.Set("spec", Parsed(R"({"volumes":[{"name":"pstrain-job","configMap":{"name":")" + config +
                           R"("}}],"containers":[{"name":"sidecar"},{"name":"main","env":[
      {"name":"PSTRAIN_CLUSTER","valueFrom":{"configMapKeyRef":{"name":")" +
                           config + R"(","key":"cluster"}}},
      {"name":"TF_CONFIG","value":"{\"cluster\":$(PSTRAIN_CLUSTER),\"x\":\"$(OTHER)\"}"},
      {"name":"MINE","value":"mine"},
      {"name":"PASSWORD","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
      {"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}]})"));
    api_.server().Put(kube::PodResource(), pod);
  }
};

TEST_F(DescribeConfigTest, Shows_WhatThePodsAreTold) {
  PutConfig("a-old", "2026-01-01T00:00:00Z");
  PutConfig("a-newer", "2026-01-02T00:00:00Z");
  PutChief("a-old");
  const std::string text = AnswerOf(DescribeConfig(session(), "a")).text;
  EXPECT_THAT(text, HasSubstr("# ConfigMap ns/a-old\n# job.yaml\njob of a-old\n"))
      << "of the pods, not the newest";
  EXPECT_THAT(text, HasSubstr("# environment of chief-0 (pod a-chief-0-x, container main)\n"));
  EXPECT_THAT(text, HasSubstr("TF_CONFIG={\"cluster\":{\"ps\":[]},\"x\":\"$(OTHER)\"}\n"));
  EXPECT_THAT(text, HasSubstr("MINE=mine\nPASSWORD=(key k of Secret s, not read)\n"));
  EXPECT_THAT(text, HasSubstr("NODE=(field spec.nodeName of the pod)\n"));
  EXPECT_THAT(text, HasSubstr("# environment of worker-1"));
}

TEST_F(DescribeConfigTest, Shows_TheNewestConfigMapWithoutPods) {
  PutConfig("a-old", "2026-01-01T00:00:00Z");
  PutConfig("a-newer", "2026-01-02T00:00:00Z");
  for (const char* pod : {"a-chief-0-x", "a-worker-1-x"}) {
    api_.server().Remove(kube::PodResource(), {"ns", pod});
  }
  const std::string text = AnswerOf(DescribeConfig(session(), "a")).text;
  EXPECT_THAT(text, HasSubstr("job of a-newer"));
  EXPECT_THAT(text, Not(HasSubstr("# environment")));
  EXPECT_THAT(Told(), HasSubstr("job a has no pods"));
}

TEST_F(DescribeConfigTest, Shows_ThatNothingWasMadeYet) {
  const Problem problem = ProblemOf(DescribeConfig(session(), "a"));
  EXPECT_EQ(problem.exit_code, kExitNotThere);
  EXPECT_THAT(problem.sentence, HasSubstr("job a has no ConfigMap"));
}

}  // namespace
}  // namespace pstrain::cluster
