#include "operator/kube/http/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const ExecPlugin kPlugin{
    .user = "me", .api_version = "client.authentication.k8s.io/v1", .command = {"login", "get"}};

std::string Reply(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}";
}

TEST(ExecCredential, Info_HasClusterAndWhetherAPersonIsThere) {
  EXPECT_EQ(ExecInfo(kPlugin, true),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":true}})");
  ExecPlugin told = kPlugin;
  told.cluster = Json::Object();
  told.cluster.Set("server", Json::String("https://h"));
  EXPECT_THAT(ExecInfo(told, false),
              HasSubstr(R"("spec":{"cluster":{"server":"https://h"},"interactive":false})"));
}

TEST(ExecCredential, Parse_TakesTokenCertificateAndEnd) {
  const auto token = ParseExecCredential(Reply(R"({"token":"t"})"), kPlugin);
  ASSERT_TRUE(token.ok()) << token.status().ToString();
  EXPECT_EQ(token->token.Reveal(), "t");
  EXPECT_FALSE(token->expires);
  const auto certificate =
      ParseExecCredential(Reply(R"({"clientCertificateData":"c","clientKeyData":"k",
                "expirationTimestamp":"1970-01-01T00:01:00Z"})"),
                          kPlugin);
  ASSERT_TRUE(certificate.ok());
  EXPECT_EQ(certificate->certificate, "c");
  EXPECT_EQ(certificate->key.Reveal(), "k");
  EXPECT_EQ(certificate->expires->time_since_epoch(), std::chrono::minutes(1));
}

TEST(ExecCredential, Parse_OfAnythingElse_NamesUserCommandAndReason) {
  const std::pair<std::string, const char*> bad[] = {
      {"token: s3cret", "is not JSON"},
      {R"({"kind":"Secret"})", "kind of its output is not ExecCredential"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
       "apiVersion of its output is not client.authentication.k8s.io/v1"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
       "has no status"},
      {Reply("{}"), "neither a token nor a client certificate"},
      {Reply(R"({"token":"s3cret","clientKeyData":"k"})"), "must come together"},
      {Reply(R"({"token":"s3cret","expirationTimestamp":"soon"})"), "expirationTimestamp"},
  };
  for (const auto& [text, reason] : bad) {
    const Status status = ParseExecCredential(text, kPlugin).status();
    EXPECT_EQ(status.code(), StatusCode::kUnauthenticated) << text;
    EXPECT_THAT(status.message(), HasSubstr(reason));
    EXPECT_THAT(status.message(),
                HasSubstr("user \"me\" of the kubeconfig: its credential plugin \"login get\""));
    EXPECT_THAT(status.message(), Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace pstrain::kube
