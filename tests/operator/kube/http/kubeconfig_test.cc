#include "operator/kube/http/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"

namespace pstrain::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KubeconfigTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(dir_.File(name), text).ok());
    return dir_.File(name);
  }
  /// A config whose cluster and user have these further fields.
  std::string Config(const std::string& cluster, const std::string& user) {
    return Write("config",
                 "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n"
                 "- name: c\n  context: {cluster: k, user: u, namespace: team}\n"
                 "clusters:\n- name: k\n  cluster:\n    server: https://host:6443\n" +
                     cluster + "users:\n- name: u\n  user:\n    token: t\n" + user);
  }

  const TempDir dir_;
};

TEST_F(KubeconfigTest, Load_ReadsFilesDataTokenAndCertificates) {
  const auto config = LoadKubeconfig(
      {Config("    certificate-authority-data: Zm9v\n    certificate-authority: ignored.crt\n",
              "    tokenFile: secrets/token\n    client-certificate: own.crt\n    client-key: "
              "/k/own.key\n")});
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server, "https://host:6443");
  EXPECT_EQ(config->ca.data, "foo");
  EXPECT_EQ(config->token.data, "t");
  EXPECT_EQ(config->token.file, dir_.File("secrets/token"));
  EXPECT_EQ(config->client_certificate.file, dir_.File("own.crt"));
  EXPECT_EQ(config->client_key.file, "/k/own.key");
  EXPECT_EQ(config->default_namespace, "team");
}

TEST_F(KubeconfigTest, Load_RefusesWhatItDoesNotDoByName) {
  const std::pair<const char*, const char*> refused[] = {
      {"    proxy-url: socks5://proxy\n", ""},
      {"    proxy-url: https://proxy\n", ""},
      {"", "    auth-provider: {name: gcp}\n"},
      {"", "    username: me\n"},
      {"", "    as: somebody\n"},
  };
  for (const auto& [cluster, user] : refused) {
    const Status status = LoadKubeconfig({Config(cluster, user)}).status();
    std::string field = std::string(cluster) + user;
    field = field.substr(4, field.find(':') - 4);
    EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << field;
    EXPECT_THAT(status.message(), HasSubstr(field + ": is not supported"));
    EXPECT_THAT(status.message(), HasSubstr(dir_.File("config") + ":"));
  }
  EXPECT_TRUE(LoadKubeconfig({Config("    insecure-skip-tls-verify: false\n", "")}).ok());
}

TEST_F(KubeconfigTest, Load_ReadsHowTheServerIsReachedAndKnown) {
  const auto config = LoadKubeconfig(
      {Config("    tls-server-name: api.internal\n    proxy-url: http://me:s@proxy:3128\n", "")});
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->tls_server_name, "api.internal");
  EXPECT_EQ(config->proxy_url.Reveal(), "http://me:s@proxy:3128");
  EXPECT_FALSE(config->insecure_skip_tls_verify);
  EXPECT_TRUE(LoadKubeconfig({Config("    insecure-skip-tls-verify: true\n", "")})
                  ->insecure_skip_tls_verify);
  EXPECT_THAT(
      LoadKubeconfig({Config("    insecure-skip-tls-verify: yes\n", "")}).status().message(),
      HasSubstr("insecure-skip-tls-verify: must be true or false"));
  EXPECT_THAT(LoadKubeconfig({Config("    insecure-skip-tls-verify: true\n"
                                     "    certificate-authority-data: Zm9v\n",
                                     "")})
                  .status()
                  .message(),
              HasSubstr("must be left out where there is a certificate-authority"));
}

TEST_F(KubeconfigTest, Load_OfSeveralFiles_TakesTheFirstDefinition) {
  const std::string first = Write("first",
                                  "current-context: a\nclusters:\n"
                                  "- {name: k, cluster: {server: https://one}}\n");
  const std::string second =
      Write("second",
            "current-context: b\ncontexts:\n- {name: a, context: {cluster: k}}\n"
            "- {name: b, context: {cluster: k2}}\nclusters:\n"
            "- {name: k, cluster: {server: https://two}}\n"
            "- {name: k2, cluster: {server: https://three}}\nusers: null\n");
  EXPECT_EQ(LoadKubeconfig({first, dir_.File("absent"), second})->server, "https://one");
  EXPECT_EQ(LoadKubeconfig({first, second}, {.context = "b", .namespace_name = "n"})->server,
            "https://three");
}

TEST_F(KubeconfigTest, Load_AsJsonWithTabs_IsRead) {
  const auto config = LoadKubeconfig(
      {Write("json",
             "{\n\t\"current-context\": \"c\",\n\t\"contexts\": [{\"name\": \"c\", \"context\": "
             "{\"cluster\": \"k\"}}],\n\t\"clusters\": [{\"name\": \"k\", \"cluster\": "
             "{\"server\": \"http://127.0.0.1:8001\"}}]\n}\n")});
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server, "http://127.0.0.1:8001");
}

TEST_F(KubeconfigTest, Load_OfBadFiles_NamesFileAndReason) {
  const std::pair<const char*, const char*> bad[] = {
      {"a: [", "end of sequence"},
      {"- 1", "must be an object"},
      {"clusters: 7", "clusters: must be a list"},
      {"clusters: [{}]", "an entry has no name"},
      {"contexts: []", "no current-context"},
      {"current-context: x", "no context \"x\""},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]", "no cluster \"k\""},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
       "clusters: [{name: k, cluster: {}}]",
       "server: is missing"},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
       "clusters: [{name: k, cluster: {server: s, certificate-authority-data: '*'}}]",
       "is not base64"},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
       "clusters: [{name: k, cluster: {server: 'http://h'}}]\nusers: [{name: u, user: {token: t}}]",
       "must be https://"},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
       "clusters: [{name: k, cluster: {server: 'https://h'}}]\n"
       "users: [{name: u, user: {client-key: k}}]",
       "must come together"},
  };
  for (const auto& [text, reason] : bad) {
    const auto config = LoadKubeconfig({Write("bad", text)});
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.status().message(), HasSubstr(reason)) << text;
  }
  EXPECT_EQ(LoadKubeconfig({dir_.File("absent")}).status().code(), StatusCode::kNotFound);
}

TEST(Kubeconfig, Files_AreSplitAtColons) {
  EXPECT_THAT(KubeconfigFiles("a::b:"), ElementsAre("a", "b"));
  EXPECT_TRUE(KubeconfigFiles("").empty());
}

}  // namespace
}  // namespace pstrain::kube
