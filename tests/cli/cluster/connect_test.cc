#include "cli/cluster/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;

class ConnectTest : public ::testing::Test {
 protected:
  ConnectTest() {
    here_.home = dir_.File("home");
    here_.service_account = dir_.File("account");
    EXPECT_TRUE(CreateDirectories(dir_.File("home/.kube")).ok());
    EXPECT_TRUE(CreateDirectories(dir_.File("account")).ok());
  }
  void Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(dir_.File(name), text).ok());
  }
  void BeInAPod() {
    here_.service_host = "10.0.0.1";
    here_.service_port = "443";
    Write("account/token", "t");
    Write("account/ca.crt", "pem");
    Write("account/namespace", "own");
  }
  static std::string Config(const std::string& server) {
    return "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
           "clusters: [{name: k, cluster: {server: '" +
           server + "'}}]\n";
  }
  std::string ServerOf(const Target& target) {
    const auto config = ChooseConfig(target, here_);
    if (const auto* problem = std::get_if<Problem>(&config)) return problem->sentence;
    return std::get<kube::ConnectionConfig>(config).server;
  }

  const TempDir dir_;
  Surroundings here_;
};

TEST_F(ConnectTest, Choose_TakesTheOptionThenKubeconfigThenHome) {
  Write("home/.kube/config", Config("https://home"));
  Write("env", Config("https://env"));
  Write("option", Config("https://option"));
  BeInAPod();
  EXPECT_EQ(ServerOf({}), "https://home");
  here_.kubeconfig = dir_.File("env");
  EXPECT_EQ(ServerOf({}), "https://env");
  EXPECT_EQ(ServerOf({.kubeconfig = dir_.File("option")}), "https://option");
}

TEST_F(ConnectTest, Choose_InAPodWithoutKubeconfig_TakesTheServiceAccount) {
  BeInAPod();
  const auto config = ChooseConfig({}, here_);
  ASSERT_NE(std::get_if<kube::ConnectionConfig>(&config), nullptr);
  EXPECT_EQ(std::get<kube::ConnectionConfig>(config).server, "https://10.0.0.1:443");
  EXPECT_EQ(std::get<kube::ConnectionConfig>(config).default_namespace, "own");
  const auto other = ChooseConfig({.name_space = "team"}, here_);
  EXPECT_EQ(std::get<kube::ConnectionConfig>(other).default_namespace, "team");
}

TEST_F(ConnectTest, Choose_WhatWasNamed_HasNoSubstitute) {
  BeInAPod();
  EXPECT_THAT(ServerOf({.kubeconfig = "/nowhere"}), HasSubstr("/nowhere"));
  EXPECT_THAT(ServerOf({.context = "c"}), HasSubstr("no kubeconfig to use"));
  here_.kubeconfig = "/nowhere/else";
  EXPECT_THAT(ServerOf({}), HasSubstr("/nowhere/else"));
}

TEST_F(ConnectTest, Choose_WhereThereIsNothing_SaysBoth) {
  const std::string sentence = ServerOf({});
  EXPECT_THAT(sentence, HasSubstr(dir_.File("home/.kube/config")));
  EXPECT_THAT(sentence, HasSubstr("not in a pod"));
  Write("home/.kube/config", "a: [");
  EXPECT_THAT(ServerOf({}), HasSubstr("cannot be used"));
}

}  // namespace
}  // namespace pstrain::cluster
