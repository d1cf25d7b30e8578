// What a kubeconfig says of the way to the server: its name, a proxy, a plugin's certificates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/os/files.h"
#include "operator/kube/http/auth_transport.h"
#include "tests/operator/kube/http/transport_fixture.h"
#include "tests/testing/connect_proxy.h"

// cpprestsdk 2.10 never frees the copy of a proxy's password that it makes for a connection: its
// zero_memory_deleter does nothing but on Windows.
// LeakSanitizer looks for this very name.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcpprest.so"; }

namespace pstrain::kube {
namespace {

using pstrain::testing::ConnectProxy;
using pstrain::testing::HttpServerConnection;
using pstrain::testing::HttpServerRequest;
using pstrain::testing::IssueCertificate;
using pstrain::testing::TestCertificate;
using pstrain::testing::TlsHttpServer;
using ::testing::HasSubstr;

void ReplyOk(const HttpServerRequest&, HttpServerConnection& connection) {
  connection.Reply(200, "{}");
}

Result<HttpReply> GetWith(const ConnectionConfig& config) {
  PrepareCpprest();
  const RealClock clock;
  Credentials credentials(config, clock);
  auto transport = CpprestTransport::Create(credentials, {});
  if (!transport.ok()) return transport.status();
  AuthTransport authorized(**transport, credentials);
  return authorized.Send({.target = "/version"}, {});
}

TEST(CpprestTransportKubeconfig, TlsServerName_IsWhatTheCertificateMustBeFor) {
  const TestCertificate certificate =
      IssueCertificate(TestAuthority(), "server", "DNS:api.internal");
  TlsHttpServer server({&certificate, nullptr}, ReplyOk);
  ConnectionConfig config = TransportFixture::Config(server.Url());
  EXPECT_FALSE(GetWith(config).ok()) << "127.0.0.1 is not in the certificate";
  config.tls_server_name = "api.internal";
  const auto reply = GetWith(config);
  EXPECT_TRUE(reply.ok()) << reply.status().ToString();
  config.tls_server_name = "other.internal";
  EXPECT_FALSE(GetWith(config).ok());
}

TEST(CpprestTransportKubeconfig, InsecureSkipTlsVerify_TakesAnyServerAndWarns) {
  const auto foreign = pstrain::testing::MakeAuthority("foreign");
  const TestCertificate certificate = IssueCertificate(foreign, "server", "DNS:other");
  TlsHttpServer server({&certificate, nullptr}, ReplyOk);
  ConnectionConfig config;
  config.server = server.Url();
  EXPECT_FALSE(GetWith(config).ok());
  config.insecure_skip_tls_verify = true;
  ::testing::internal::CaptureStderr();
  const auto reply = GetWith(config);
  EXPECT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("insecure-skip-tls-verify"));
}

TEST(CpprestTransportKubeconfig, ProxyUrl_IsConnectedThrough) {
  TlsHttpServer server({&ServerCertificate(), nullptr}, ReplyOk);
  const ConnectProxy proxy;
  ConnectionConfig config = TransportFixture::Config(server.Url());
  config.proxy_url = Secret("http://me:s%40lt@" + proxy.Address());
  const auto reply = GetWith(config);
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_THAT(proxy.requests()[0], HasSubstr("CONNECT 127.0.0.1:" + std::to_string(server.port())));
  EXPECT_THAT(proxy.requests()[0], HasSubstr("Proxy-Authorization: Basic bWU6c0BsdA=="))
      << "me:s@lt";
}

TEST(CpprestTransportKubeconfig, ProxyUrl_WhenTheProxyRefuses_IsAnError) {
  TlsHttpServer server({&ServerCertificate(), nullptr}, ReplyOk);
  const ConnectProxy proxy("403 Forbidden");
  ConnectionConfig config = TransportFixture::Config(server.Url());
  config.proxy_url = Secret("http://" + proxy.Address());
  EXPECT_EQ(GetWith(config).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(server.connections(), 0);
}

TEST(CpprestTransportKubeconfig, CertificateOfAPlugin_WhenRefused_IsReplacedOnANewConnection) {
  const TempDir dir;
  const auto give = [&dir] {
    const TestCertificate own = IssueCertificate(TestAuthority(), "me");
    Json status = Json::Object();
    status.Set("clientCertificateData", Json::String(own.certificate));
    status.Set("clientKeyData", Json::String(own.key));
    EXPECT_TRUE(WriteFileAtomically(dir.File("reply"),
                                    R"({"apiVersion":"client.authentication.k8s.io/v1",
                                        "kind":"ExecCredential","status":)" +
                                        WriteJson(status) + "}")
                    .ok());
  };
  give();
  // The first connection shows the first certificate, which is refused, and there is another then.
  TlsHttpServer* running = nullptr;
  std::atomic<int> refused = 0;
  TlsHttpServer server({&ServerCertificate(), &TestAuthority()},
                       [&](const HttpServerRequest&, HttpServerConnection& connection) {
                         const int now = running->connections();
                         if (refused == 0) refused = now;
                         if (refused == now) give();
                         connection.Reply(refused == now ? 401 : 200, "{}");
                       });
  running = &server;
  ConnectionConfig config = TransportFixture::Config(server.Url());
  EXPECT_FALSE(GetWith(config).ok()) << "without a certificate";
  config.exec = ExecPlugin{.user = "me",
                           .api_version = "client.authentication.k8s.io/v1",
                           .command = {"cat", dir.File("reply")}};
  const auto reply = GetWith(config);
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->status, 200);
}

}  // namespace
}  // namespace pstrain::kube
