#include "operator/job/build/network_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain::job {
namespace {

PSTrainingJob Job(bool built_in) {
  PSTrainingJob job;
  job.mutable_metadata()->set_name("adult");
  job.mutable_metadata()->set_namespace_("ml");
  job.mutable_metadata()->set_uid("u");
  if (built_in) job.mutable_spec()->mutable_training()->set_batch_size(8);
  return job;
}

Json Peers(const std::string& text) { return *ParseJson(text); }

std::string SpecOf(const Json& policy) { return WriteJson(*policy.Find("spec")); }

constexpr char kSelector[] = R"({"matchLabels":{"pstrain.dev/job-name":"adult"}})";

TEST(NetworkPolicy, OfATrainingJob_OpensTheTrainingPortToItselfAndMetricsToThePeers) {
  const Json policy = BuildNetworkPolicy(Job(true), Peers(R"([{"podSelector":{}}])"));
  EXPECT_EQ(*policy.Find("kind")->AsString(), "NetworkPolicy");
  const std::string own = kSelector;
  EXPECT_EQ(SpecOf(policy),
            R"({"podSelector":)" + own + R"(,"policyTypes":["Ingress"],"ingress":[)" +
                R"({"from":[{"podSelector":)" + own +
                R"(}],"ports":[{"port":2222,"protocol":"TCP"}]},)" +
                R"({"from":[{"podSelector":{}}],"ports":[{"port":9464,"protocol":"TCP"}]}]})");
}

TEST(NetworkPolicy, OfAnOwnProgram_OpensEveryPortToItself) {
  const Json policy = BuildNetworkPolicy(Job(false), Peers("[]"));
  const std::string own = kSelector;
  EXPECT_EQ(SpecOf(policy),
            R"({"podSelector":)" + own +
                R"(,"policyTypes":["Ingress"],"ingress":[{"from":[{"podSelector":)" + own +
                R"(}]}]})");
}

TEST(NetworkPolicy, WithOtherPeers_IsAnotherObject) {
  const auto name = [](const char* peers) {
    return *BuildNetworkPolicy(Job(true), Peers(peers)).Find("metadata")->Find("name")->AsString();
  };
  EXPECT_EQ(name("[]"), name("[]"));
  EXPECT_NE(name("[]"), name(R"([{"podSelector":{}}])"));
  EXPECT_TRUE(name("[]").starts_with("adult-"));
}

}  // namespace
}  // namespace pstrain::job
