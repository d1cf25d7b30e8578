#include "operator/kube/http/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "operator/kube/http/auth_transport.h"
#include "operator/kube/http/base64.h"

namespace pstrain::kube {
namespace {

using ::testing::HasSubstr;

class CredentialsTest : public ::testing::Test {
 protected:
  void WriteToken(const std::string& token) {
    ASSERT_TRUE(WriteFileAtomically(dir_.File("token"), token).ok());
  }
  ConnectionConfig FileConfig() const {
    ConnectionConfig config;
    config.token.file = dir_.File("token");
    return config;
  }

  const TempDir dir_;
  ManualClock clock_{std::chrono::hours(1)};
};

TEST_F(CredentialsTest, Token_WhenRotated_IsReadAgainAfterAMinute) {
  WriteToken("first\n");
  Credentials credentials(FileConfig(), clock_);
  EXPECT_EQ(credentials.Token()->Reveal(), "first");
  WriteToken("second");
  clock_.Advance(std::chrono::seconds(59));
  EXPECT_EQ(credentials.Token()->Reveal(), "first");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(credentials.Token()->Reveal(), "second");
}

TEST_F(CredentialsTest, Token_WhenTheFileGoesAway_KeepsTheLast) {
  WriteToken("first");
  Credentials credentials(FileConfig(), clock_);
  EXPECT_EQ(credentials.Token()->Reveal(), "first");
  ASSERT_TRUE(RemoveFile(dir_.File("token")).ok());
  clock_.Advance(std::chrono::minutes(2));
  EXPECT_EQ(credentials.Token()->Reveal(), "first");
}

TEST_F(CredentialsTest, Token_WhenNeverReadable_IsAnErrorWithThePath) {
  Credentials missing(FileConfig(), clock_);
  EXPECT_THAT(missing.Token().status().message(), HasSubstr(dir_.File("token")));
  WriteToken(" \n");
  Credentials empty(FileConfig(), clock_);
  EXPECT_THAT(empty.Token().status().message(), HasSubstr("is empty"));
}

TEST_F(CredentialsTest, Token_WhenNoneIsConfigured_IsEmpty) {
  Credentials credentials({}, clock_);
  EXPECT_TRUE(credentials.Token()->empty());
  EXPECT_FALSE(credentials.DropToken());
}

/// Accepts one token; counts the requests.
class OneTokenTransport final : public Transport {
 public:
  explicit OneTokenTransport(std::string token) : token_(std::move(token)) {}
  Result<HttpReply> Send(const HttpRequest& request, const std::stop_token&) override {
    ++requests;
    HttpReply reply;
    reply.status = request.bearer.Reveal() == token_ ? 200 : 401;
    return reply;
  }
  Result<HttpReply> Stream(const HttpRequest& request, ByteSink&,
                           const std::stop_token& stop) override {
    return Send(request, stop);
  }
  int requests = 0;

 private:
  const std::string token_;
};

TEST_F(CredentialsTest, Request_WhenTheTokenIsRefused_IsSentAgainWithAFreshOne) {
  WriteToken("old");
  Credentials credentials(FileConfig(), clock_);
  OneTokenTransport server("new");
  AuthTransport transport(server, credentials);
  EXPECT_EQ(transport.Send({}, {})->status, 401);
  EXPECT_EQ(server.requests, 1) << "the same token is not worth a second try";
  WriteToken("new");
  EXPECT_EQ(transport.Send({}, {})->status, 200);
  EXPECT_EQ(server.requests, 3) << "one more for the token that was still remembered";
}

TEST_F(CredentialsTest, Request_WhenTheTokenIsReplacedInMidRun_SucceedsAtOnce) {
  WriteToken("old");
  Credentials credentials(FileConfig(), clock_);
  EXPECT_EQ(credentials.Token()->Reveal(), "old");
  WriteToken("new");
  OneTokenTransport server("new");
  AuthTransport transport(server, credentials);
  EXPECT_EQ(transport.Send({}, {})->status, 200);
  EXPECT_EQ(server.requests, 2);
}

TEST_F(CredentialsTest, Request_WhenTheTokenOfAPluginIsRefused_AsksThePluginAgain) {
  const std::string reply =
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)";
  WriteToken(reply + R"("status":{"token":"old"}})");
  ConnectionConfig config;
  config.exec = ExecPlugin{.user = "me",
                           .api_version = "client.authentication.k8s.io/v1",
                           .command = {"cat", dir_.File("token")}};
  Credentials credentials(config, clock_);
  EXPECT_EQ(credentials.Token()->Reveal(), "old");
  WriteToken(reply + R"("status":{"token":"new"}})");
  OneTokenTransport server("new");
  AuthTransport transport(server, credentials);
  EXPECT_EQ(transport.Send({}, {})->status, 200);
  EXPECT_EQ(server.requests, 2);
  WriteToken(reply + R"("status":{"clientCertificateData":"c","clientKeyData":"k"}})");
  EXPECT_TRUE(credentials.DropToken());
  EXPECT_TRUE(credentials.Token()->empty());
  EXPECT_EQ(credentials.ReadTls()->client_certificate, "c");
  EXPECT_EQ(credentials.ReadTls()->client_key.Reveal(), "k");
}

TEST_F(CredentialsTest, InCluster_WhenInAPod_NamesServerFilesAndNamespace) {
  WriteToken("t");
  ASSERT_TRUE(WriteFileAtomically(dir_.File("ca.crt"), "pem").ok());
  ASSERT_TRUE(WriteFileAtomically(dir_.File("namespace"), "training\n").ok());
  const auto config = InClusterConfig("10.0.0.1", "443", dir_.path());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token.file, dir_.File("token"));
  EXPECT_EQ(config->default_namespace, "training");
  EXPECT_EQ(InClusterConfig("fd00::1", "443", dir_.path())->server,
            "https://kubernetes.default.svc:443");
}

TEST_F(CredentialsTest, InCluster_WhenNotInAPod_SaysWhy) {
  EXPECT_THAT(InClusterConfig("", "", dir_.path()).status().message(), HasSubstr("not in a pod"));
  EXPECT_THAT(InClusterConfig("10.0.0.1", "443", dir_.path()).status().message(),
              HasSubstr("automountServiceAccountToken"));
}

TEST(Secret, Printed_IsHidden) {
  EXPECT_STREQ(Secret("abc").ToString(), "***");
  EXPECT_STREQ(Secret().ToString(), "");
}

TEST(Base64, Text_DecodesOrIsRefused) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("Zg=="), "f");
  EXPECT_EQ(DecodeBase64("Zm8="), "fo");
  EXPECT_EQ(DecodeBase64("Zm\n9v"), "foo");
  for (const char* text : {"", "f", "fo", "foo", "\xff\xfe", "many bytes"}) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(text)), text);
  }
  for (const char* bad : {"Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "Z*==", "===="}) {
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace pstrain::kube
