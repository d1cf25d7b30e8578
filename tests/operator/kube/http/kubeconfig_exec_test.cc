// users[].user.exec of a kubeconfig.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "operator/kube/http/kubeconfig.h"

namespace pstrain::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KubeconfigExecTest : public ::testing::Test {
 protected:
  Result<ConnectionConfig> Load(const std::string& exec, const std::string& cluster = "",
                                const std::string& user = "") {
    const std::string text =
        "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: me}}]\n"
        "clusters:\n- name: k\n  cluster:\n    server: https://host\n" +
        cluster + "users:\n- name: me\n  user:\n" + user + "    exec:\n" + exec;
    EXPECT_TRUE(WriteFileAtomically(dir_.File("config"), text).ok());
    return LoadKubeconfig({dir_.File("config")});
  }

  const TempDir dir_;
};

constexpr const char* kV1 = "      apiVersion: client.authentication.k8s.io/v1\n";

TEST_F(KubeconfigExecTest, Load_ReadsThePlugin) {
  const auto config = Load(std::string(kV1) +
                               "      command: aws\n      args: [eks, get-token]\n"
                               "      env: [{name: AWS_PROFILE, value: dev}]\n"
                               "      interactiveMode: Never\n      installHint: get aws\n"
                               "      provideClusterInfo: true\n",
                           "    certificate-authority-data: Zm9v\n    tls-server-name: api\n"
                           "    extensions:\n    - name: client.authentication.k8s.io/exec\n"
                           "      extension: {audience: '7', number: 7, on: true}\n");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  ASSERT_TRUE(config->exec);
  EXPECT_EQ(config->exec->user, "me");
  EXPECT_EQ(config->exec->api_version, "client.authentication.k8s.io/v1");
  EXPECT_THAT(config->exec->command, ElementsAre("aws", "eks", "get-token"));
  EXPECT_THAT(config->exec->environment, ElementsAre(std::pair("AWS_PROFILE", "dev")));
  EXPECT_EQ(config->exec->input, ExecInput::kNever);
  EXPECT_EQ(config->exec->install_hint, "get aws");
  EXPECT_EQ(WriteJson(config->exec->cluster), R"({"server":"https://host","tls-server-name":"api",)"
                                              R"("config":{"audience":"7","number":7,"on":true},)"
                                              R"("certificate-authority-data":"Zm9v"})");
}

TEST_F(KubeconfigExecTest, Load_OfACommandWithASlash_TakesItRelativeToTheFile) {
  const auto config =
      Load("      apiVersion: client.authentication.k8s.io/v1beta1\n      command: ./bin/login\n");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->exec->command[0], dir_.File("./bin/login"));
  EXPECT_EQ(config->exec->input, ExecInput::kIfAvailable);
  EXPECT_TRUE(config->exec->cluster.is_null());
}

TEST_F(KubeconfigExecTest, Load_OfBadPlugins_NamesTheField) {
  const std::string good = std::string(kV1) + "      command: login\n";
  const std::pair<std::string, const char*> bad[] = {
      {"      command: login\n", "exec.apiVersion: must be"},
      {"      apiVersion: client.authentication.k8s.io/v1alpha1\n", "exec.apiVersion: must be"},
      {kV1, "exec.command: is missing"},
      {good, "exec.interactiveMode: must be"},
      {good + "      interactiveMode: Sometimes\n", "exec.interactiveMode: must be"},
      {good + "      args: word\n", "exec.args: must be a list"},
      {good + "      env: {A: b}\n", "exec.env: must be a list"},
      {good + "      env: [{name: A}]\n", "exec.env: each entry must have a name and a value"},
  };
  for (const auto& [exec, reason] : bad) {
    const Status status = Load(exec).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << exec;
    EXPECT_THAT(status.message(), HasSubstr(reason));
    EXPECT_THAT(status.message(), HasSubstr(dir_.File("config") + ":"));
  }
  EXPECT_THAT(
      Load(good + "      interactiveMode: Never\n", "", "    token: t\n").status().message(),
      HasSubstr("exec: must be left out where there is a token"));
}

}  // namespace
}  // namespace pstrain::kube
