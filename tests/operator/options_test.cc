#include "operator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

/// Expects a refusal whose message has all of `parts`.
void ExpectRefused(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& parts) {
  const auto options = ParseOperatorOptions(arguments);
  ASSERT_FALSE(options.ok()) << arguments.front();
  EXPECT_EQ(options.status().code(), StatusCode::kInvalidArgument);
  for (const std::string& part : parts) EXPECT_THAT(options.status().message(), HasSubstr(part));
}

TEST(OperatorOptions, WithoutArguments_AreTheDefaultsOfTheUsage) {
  const auto options = ParseOperatorOptions({});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->leader_elect);
  EXPECT_EQ(options->metrics_port, 8080);
  EXPECT_EQ(options->health_port, 8081);
  EXPECT_EQ(options->workers, 16);
  const std::string usage = OperatorUsage();
  EXPECT_THAT(usage, HasSubstr("default " + std::to_string(options->lease_duration.count()) + "s"));
  EXPECT_THAT(usage, HasSubstr("default " + std::to_string(options->api_calls)));
}

TEST(OperatorOptions, ValuesStandBehindEqualsOrNext) {
  const auto options = ParseOperatorOptions(
      {"--namespace=ml", "--kubeconfig", "/k", "--leader-elect", "--metrics-bind-address=:0",
       "--health-probe-bind-address", "127.0.0.1:9", "--progress-period=250ms",
       "--progress-status-period", "2s", "--leader-elect-lease-duration=1m", "--kube-api-qps=2.5",
       "--log-level=debug"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->name_space, "ml");
  EXPECT_EQ(options->kubeconfig, "/k");
  EXPECT_TRUE(options->leader_elect);
  EXPECT_EQ(options->metrics_address, "0.0.0.0");
  EXPECT_EQ(options->metrics_port, 0);
  EXPECT_EQ(options->health_address, "127.0.0.1");
  EXPECT_EQ(options->health_port, 9);
  EXPECT_EQ(options->progress_period, milliseconds(250));
  EXPECT_EQ(options->progress_status_period, milliseconds(2000));
  EXPECT_EQ(options->lease_duration, seconds(60));
  EXPECT_EQ(options->api_qps, 2.5);
  EXPECT_EQ(options->log_level, LogLevel::kDebug);
}

TEST(OperatorOptions, ASwitch_TakesTrueAndFalseOnly) {
  EXPECT_FALSE(ParseOperatorOptions({"--leader-elect=false"})->leader_elect);
  ExpectRefused({"--leader-elect=yes"}, {"--leader-elect", "\"yes\"", "true or false"});
}

TEST(OperatorOptions, AnUnknownFlagOrAMissingValue_IsNamed) {
  ExpectRefused({"--nope=1"}, {"--nope", "unknown flag"});
  ExpectRefused({"namespace"}, {"namespace", "unknown flag"});
  ExpectRefused({"--namespace"}, {"--namespace", "needs a value"});
}

TEST(OperatorOptions, ABadValue_IsRefusedWithTheWayOut) {
  ExpectRefused({"--metrics-bind-address=8080"}, {"--metrics-bind-address", "write HOST:PORT"});
  ExpectRefused({"--metrics-bind-address=:70000"}, {"--metrics-bind-address"});
  ExpectRefused({"--progress-period=5"}, {"--progress-period", "write 500ms or 5s"});
  ExpectRefused({"--progress-period=0s"}, {"--progress-period"});
  ExpectRefused({"--progress-period=9223372036854775807s"}, {"--progress-period"});
  ExpectRefused({"--leader-elect-retry-period=10ms"}, {"at least 1s"});
  ExpectRefused({"--log-level=loud"}, {"--log-level", "debug, info, warning or error"});
  ExpectRefused({"--training-image-pull-policy=always"}, {"Always, IfNotPresent or Never"});
}

TEST(OperatorOptions, NetworkPolicyPeers_AreAListOfObjects) {
  EXPECT_FALSE(ParseOperatorOptions({})->job_network_policy_peers.has_value());
  const auto options = ParseOperatorOptions({R"(--job-network-policy-peers=[{"podSelector":{}}])"});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(WriteJson(*options->job_network_policy_peers), R"([{"podSelector":{}}])");
  EXPECT_EQ(
      ParseOperatorOptions({"--job-network-policy-peers=[]"})->job_network_policy_peers->size(),
      0U);
  // An empty peer is everybody.
  for (const std::string value : {"", "{}", "[1]", "[{}]", "all"}) {
    ExpectRefused({"--job-network-policy-peers=" + value}, {"--job-network-policy-peers", "write"});
  }
}

TEST(OperatorOptions, ANumber_IsInItsBounds) {
  for (const std::string value : {"0", "-1", "1x", "", "1001", "99999999999"}) {
    ExpectRefused({"--max-concurrent-reconciles=" + value}, {"--max-concurrent-reconciles"});
  }
  for (const std::string value : {"0", "inf", "nan", "-2"}) {
    ExpectRefused({"--kube-api-qps=" + value}, {"--kube-api-qps"});
  }
}

TEST(OperatorOptions, LeaseTimesThatCannotWorkTogether_AreRefused) {
  ExpectRefused({"--leader-elect-lease-duration=10s"}, {"lease duration", "renew deadline"});
  ExpectRefused({"--leader-elect-retry-period=9s"}, {"retry period"});
}

}  // namespace
}  // namespace pstrain
