#include "runtime/rpc/grpc/tls.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/os/files.h"
#include "proto/contract/control.grpc.pb.h"
#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/rpc/grpc/server.h"
#include "tests/runtime/rpc/test_peers.h"
#include "tests/testing/test_certificates.h"
#include "tests/testing/tls_client.h"

namespace pstrain {
namespace {

using testing::IssueCertificate;
using testing::MakeAuthority;
using testing::ShakeHands;
using testing::TestCertificate;
using testing::TlsHandshake;
using testing::TlsVersion;

constexpr char kDomain[] = "job.ns.svc";
constexpr char kNames[] = "DNS:*.job.ns.svc";

/// As the Secret of a job is mounted.
class Folder {
 public:
  void Write(const TestCertificate& authority, const std::string& names = kNames) {
    Write(authority, IssueCertificate(authority, "replica", names));
  }
  void Write(const TestCertificate& authority, const TestCertificate& own) {
    // The key last: gRPC takes the pair when both have settled.
    ASSERT_TRUE(WriteFileAtomically(dir_.File("ca.crt"), authority.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(dir_.File("tls.crt"), own.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(dir_.File("tls.key"), own.key).ok());
  }
  std::shared_ptr<const MutualTls> Open() const {
    const auto tls = MutualTls::Open(
        {.folder = dir_.path(), .domain = kDomain, .read_again = std::chrono::seconds(1)});
    EXPECT_TRUE(tls.ok()) << tls.status().ToString();
    return tls.ok() ? *tls : nullptr;
  }
  const std::string& path() const { return dir_.path(); }

 private:
  TempDir dir_;
};

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() { server_files_.Write(authority_); }

  void Start() {
    server_tls_ = server_files_.Open();
    auto server = GrpcServer::Start(
        "127.0.0.1:0",
        {.services = {}, .data_plane = &handler_, .options = {.tls = server_tls_.get()}});
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  /// A call over a new connection.
  StatusCode CallWith(const MutualTls* tls) {
    const TlsCredentials credentials(nullptr, tls);
    GrpcTransport transport(std::make_shared<PendingCalls>(), tls ? &credentials : nullptr);
    const auto connection = transport.Connect(server_->address());
    return CallAndWait(*connection, 1, "body").status().code();
  }
  StatusCode CallFrom(const Folder& files) {
    const auto tls = files.Open();
    return CallWith(tls.get());
  }
  /// Until a new connection is answered so; false after 20 s. One attempt has a second, for which a
  /// handshake may wait for a processor.
  bool Becomes(const Folder& files, StatusCode wanted) {
    const RealClock clock;
    const auto end = clock.Now() + std::chrono::seconds(20);
    while (CallFrom(files) != wanted) {
      if (clock.Now() > end) return false;
    }
    return true;
  }

  const TestCertificate authority_ = MakeAuthority("job");
  Folder server_files_;
  EchoHandler handler_;
  std::shared_ptr<const MutualTls> server_tls_;
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(TlsTest, WhoHasACertificateOfTheJob_IsAnswered) {
  Start();
  Folder client;
  client.Write(authority_, "DNS:other,DNS:job-worker-0.job.ns.svc");
  EXPECT_TRUE(Becomes(client, StatusCode::kOk));
}

TEST_F(TlsTest, WhoSpeaksInTheClearOrShowsNoCertificate_IsNot) {
  Start();
  EXPECT_EQ(CallWith(nullptr), StatusCode::kUnavailable);
  // It trusts the server.
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("job-ps-0.job.ns.svc");
  ChiefControl::Stub stub(grpc::CreateCustomChannel(
      server_->address(), grpc::SslCredentials({authority_.certificate, "", ""}), arguments));
  grpc::ClientContext context;
  HelloReply reply;
  context.set_deadline(WallNow() + std::chrono::seconds(5));
  // With a certificate the method would be UNIMPLEMENTED: this server has the data plane alone.
  EXPECT_EQ(stub.Hello(&context, HelloRequest(), &reply).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, WhoSpeaksAnOlderVersionThan12_IsRefused) {
  Start();
  const TestCertificate own = IssueCertificate(authority_, "replica", kNames);
  EXPECT_EQ(ShakeHands(server_->port(), own, TlsVersion::k13).version, "TLSv1.3");
  EXPECT_EQ(ShakeHands(server_->port(), own, TlsVersion::k12).version, "TLSv1.2");
  const TlsHandshake older = ShakeHands(server_->port(), own, TlsVersion::k11);
  EXPECT_EQ(older.version, "");
  EXPECT_TRUE(older.offered) << older.error;
}

TEST_F(TlsTest, AnotherAuthority_IsRefusedByBothEnds) {
  Start();
  const TestCertificate stranger = MakeAuthority("stranger");
  Folder client;
  client.Write(stranger);
  EXPECT_EQ(CallFrom(client), StatusCode::kUnavailable);
  // It trusts the server, and the server does not trust it.
  client.Write(authority_, IssueCertificate(stranger, "replica", kNames));
  EXPECT_EQ(CallFrom(client), StatusCode::kUnavailable);
  // The reverse.
  client.Write(stranger, IssueCertificate(authority_, "replica", kNames));
  EXPECT_EQ(CallFrom(client), StatusCode::kUnavailable);
}

TEST_F(TlsTest, ACertificateThatNamesAnotherJob_IsRefusedByBothEnds) {
  Start();
  Folder client;
  client.Write(authority_, "DNS:*.other.ns.svc");
  EXPECT_EQ(CallFrom(client), StatusCode::kUnavailable);
  client.Write(authority_);
  server_files_.Write(authority_, "DNS:*.other.ns.svc");
  EXPECT_TRUE(Becomes(client, StatusCode::kUnavailable));
}

TEST_F(TlsTest, WhenTheFilesAreReplaced_NewConnectionsUseThem) {
  Start();
  Folder client;
  client.Write(authority_);
  EXPECT_TRUE(Becomes(client, StatusCode::kOk));
  const TestCertificate next = MakeAuthority("next");
  Folder next_client;
  next_client.Write(next);
  EXPECT_EQ(CallFrom(next_client), StatusCode::kUnavailable);
  server_files_.Write(next);
  EXPECT_TRUE(Becomes(next_client, StatusCode::kOk));
  EXPECT_EQ(CallFrom(client), StatusCode::kUnavailable);
}

TEST_F(TlsTest, WhenAFileIsMissing_NamesIt) {
  const TempDir empty;
  const auto tls = MutualTls::Open({.folder = empty.path(), .domain = kDomain});
  EXPECT_EQ(tls.status().code(), StatusCode::kNotFound);
  EXPECT_NE(tls.status().message().find("tls.crt"), std::string::npos);
}

TEST(IsNameOfDomain, TakesOneLabelBeforeIt) {
  EXPECT_TRUE(IsNameOfDomain("*.job.ns.svc", kDomain));
  EXPECT_TRUE(IsNameOfDomain("job-ps-0.job.ns.svc", kDomain));
  for (const char* name : {"job.ns.svc", ".job.ns.svc", "a.b.job.ns.svc", "*.job.ns.svc.evil",
                           "*.job.ns", "*.other.ns.svc", ""}) {
    EXPECT_FALSE(IsNameOfDomain(name, kDomain)) << name;
  }
}

}  // namespace
}  // namespace pstrain
