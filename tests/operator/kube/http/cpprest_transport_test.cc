#include "operator/kube/http/cpprest_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/os/files.h"
#include "tests/operator/kube/http/transport_fixture.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::HttpServerConnection;
using pstrain::testing::HttpServerRequest;
using pstrain::testing::IssueCertificate;
using pstrain::testing::MakeAuthority;
using pstrain::testing::TlsHttpServer;
using ::testing::HasSubstr;

void ReplyOk(const HttpServerRequest&, HttpServerConnection& connection) {
  connection.Reply(200, "{}");
}

/// A transport of its own configuration to a server.
Result<HttpReply> GetWith(const ConnectionConfig& config) {
  PrepareCpprest();
  const RealClock clock;
  Credentials credentials(config, clock);
  auto transport = CpprestTransport::Create(credentials, {});
  if (!transport.ok()) return transport.status();
  return (*transport)->Send({.target = "/version"}, {});
}

TEST(CpprestTransport, Send_WhenServerAnswers_CarriesRequestAndReply) {
  HttpServerRequest seen;
  TransportFixture fixture([&](const HttpServerRequest& request, HttpServerConnection& connection) {
    seen = request;
    connection.Reply(429, R"({"a":1})", {{"Retry-After", "7"}});
  });
  HttpRequest request;
  request.method = HttpMethod::kPatch;
  request.target = "/api/v1/namespaces/a%2Fb/pods?fieldManager=x%20y";
  request.content_type = "application/merge-patch+json";
  request.body = R"({"b":2})";
  request.bearer = Secret("token");
  const auto reply = fixture.transport().Send(request, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->body, R"({"a":1})");
  EXPECT_EQ(reply->retry_after, std::chrono::seconds(7));
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.target, request.target);
  EXPECT_EQ(seen.body, request.body);
  EXPECT_EQ(seen.headers["content-type"], "application/merge-patch+json");
  EXPECT_EQ(seen.headers["authorization"], "Bearer token");
  EXPECT_EQ(seen.headers["user-agent"], "pstrain-operator");
  EXPECT_FALSE(seen.headers.contains("accept-encoding"));
  EXPECT_FALSE(seen.headers.contains("expect"));
}

TEST(CpprestTransport, Send_WhenCertificateIsOfAForeignAuthority_IsRefused) {
  const auto foreign = MakeAuthority("foreign authority");
  const auto certificate = IssueCertificate(foreign, "server");
  TlsHttpServer server({&certificate, nullptr}, ReplyOk);
  const auto reply = GetWith(TransportFixture::Config(server.Url()));
  EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);
}

TEST(CpprestTransport, Send_WhenOnlyTheSystemTrustsTheAuthority_IsRefused) {
  const auto foreign = MakeAuthority("known to the system");
  const auto certificate = IssueCertificate(foreign, "server");
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("ca.pem"), foreign.certificate).ok());
  PrepareCpprest();
  // What the library reads for each connection, before it lets us have a say.
  ::setenv("SSL_CERT_FILE", dir.File("ca.pem").c_str(), 1);
  TlsHttpServer server({&certificate, nullptr}, ReplyOk);
  const auto reply = GetWith(TransportFixture::Config(server.Url()));
  ::setenv("SSL_CERT_FILE", "/dev/null", 1);
  EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);
}

TEST(CpprestTransport, Send_WhenTheHostIsNotInTheCertificate_IsRefused) {
  TlsHttpServer server({&ServerCertificate(), nullptr}, ReplyOk);
  const std::string port = std::to_string(server.port());
  // An address of this machine that the certificate does not name.
  const auto reply = GetWith(TransportFixture::Config("https://127.1.2.3:" + port));
  EXPECT_FALSE(reply.ok());
}

TEST(CpprestTransport, Send_WhenTheAuthorityFileIsReplaced_TheNextConnectionUsesIt) {
  const TempDir dir;
  const std::string path = dir.File("ca.crt");
  ASSERT_TRUE(WriteFileAtomically(path, MakeAuthority("old").certificate).ok());
  TlsHttpServer server({&ServerCertificate(), nullptr}, ReplyOk);
  ConnectionConfig config;
  config.server = server.Url();
  config.ca.file = path;
  EXPECT_FALSE(GetWith(config).ok());
  ASSERT_TRUE(WriteFileAtomically(path, TestAuthority().certificate).ok());
  EXPECT_TRUE(GetWith(config).ok());
}

TEST(CpprestTransport, Send_WhenTheAuthorityCannotBeRead_SaysSo) {
  TlsHttpServer server({&ServerCertificate(), nullptr}, ReplyOk);
  ConnectionConfig config = TransportFixture::Config(server.Url());
  config.ca = {"", "/nonexistent/ca.crt"};
  const auto missing = GetWith(config);
  EXPECT_EQ(missing.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(missing.status().message(), HasSubstr("/nonexistent/ca.crt"));
  config.ca = {"no certificate", ""};
  const auto garbage = GetWith(config);
  EXPECT_FALSE(garbage.ok());
  EXPECT_THAT(garbage.status().message(), HasSubstr("is not PEM"));
}

TEST(CpprestTransport, Send_WhenTheServerWantsACertificate_ShowsOurs) {
  const auto client = IssueCertificate(TestAuthority(), "client");
  TlsHttpServer server({&ServerCertificate(), &TestAuthority()}, ReplyOk);
  ConnectionConfig config = TransportFixture::Config(server.Url());
  EXPECT_FALSE(GetWith(config).ok());
  config.client_certificate.data = client.certificate;
  config.client_key.data = client.key;
  const auto reply = GetWith(config);
  EXPECT_TRUE(reply.ok()) << reply.status().ToString();
}

TEST(CpprestTransport, Create_WhenTheServerIsUnusable_NamesTheWayOut) {
  const RealClock clock;
  Credentials ipv6(TransportFixture::Config("https://[::1]:6443"), clock);
  const auto created = CpprestTransport::Create(ipv6, {});
  EXPECT_EQ(created.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(created.status().message(), HasSubstr("kubernetes.default.svc"));
  Credentials scheme(TransportFixture::Config("ftp://a"), clock);
  EXPECT_EQ(CpprestTransport::Create(scheme, {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(CpprestTransport, Send_WhenNobodyListens_IsUnavailable) {
  std::string url;
  {
    const TlsHttpServer gone({}, ReplyOk);
    url = gone.Url();
  }
  const auto reply = GetWith({.server = url});
  EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(reply.status().message(), HasSubstr("GET /version"));
}

TEST(CpprestTransport, Send_WhenRedirected_DoesNotFollow) {
  std::atomic<int> requests{0};
  TransportFixture fixture([&](const HttpServerRequest&, HttpServerConnection& connection) {
    requests.fetch_add(1);
    connection.Reply(302, "", {{"Location", "/elsewhere"}});
  });
  const auto reply = fixture.Get("/a");
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, 302);
  EXPECT_EQ(requests.load(), 1);
}

TEST(CpprestTransport, Send_WhenNoReplyComes_EndsAtItsDeadlineAndClosesTheConnection) {
  TransportFixture fixture(
      [](const HttpServerRequest&, HttpServerConnection& c) { c.WaitEnded(-1); });
  HttpRequest request{.target = "/slow"};
  request.timeout = std::chrono::milliseconds(50);
  const auto reply = fixture.transport().Send(request, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

TEST(CpprestTransport, Send_WhenStopped_ReturnsAndClosesTheConnection) {
  std::stop_source stop;
  TransportFixture fixture([&](const HttpServerRequest&, HttpServerConnection& connection) {
    stop.request_stop();
    connection.WaitEnded(-1);
  });
  EXPECT_EQ(fixture.Get("/slow", stop.get_token()).status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

TEST(CpprestTransport, Send_WhenTheBodyStalls_EndsAtTheIdleLimit) {
  TransportFixture fixture(
      [](const HttpServerRequest&, HttpServerConnection& connection) {
        connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        connection.WaitEnded(-1);
      },
      {.idle_limit = std::chrono::seconds(1)});
  EXPECT_EQ(fixture.Get("/a").status().code(), StatusCode::kDeadlineExceeded);
}

TEST(CpprestTransport, Send_WhenTheBodyDrips_EndsAtItsDeadline) {
  // The library's own limit begins anew with each byte.
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    const int ticks = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    constexpr long kTickNanos = 20'000'000;
    const itimerspec every{{0, kTickNanos}, {0, kTickNanos}};
    ::timerfd_settime(ticks, 0, &every, nullptr);
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    std::uint64_t passed = 0;
    while (!connection.WaitEnded(ticks) && connection.Write("x")) {
      if (::read(ticks, &passed, sizeof passed) < 0) break;
    }
    ::close(ticks);
  });
  HttpRequest request{.target = "/slow"};
  request.timeout = std::chrono::milliseconds(200);
  const auto reply = fixture.transport().Send(request, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

TEST(CpprestTransport, Send_WhenTheBodyIsCutOff_IsUnavailable) {
  for (const bool reset : {false, true}) {
    TransportFixture fixture([=](const HttpServerRequest&, HttpServerConnection& connection) {
      connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
      if (reset) {
        connection.Reset();
      } else {
        connection.Close();
      }
    });
    EXPECT_EQ(fixture.Get("/a").status().code(), StatusCode::kUnavailable) << reset;
  }
}

TEST(CpprestTransport, Send_WhenTheBodyIsTooLong_IsRefused) {
  TransportFixture fixture(
      [](const HttpServerRequest&, HttpServerConnection& connection) {
        connection.Reply(200, std::string(2000, 'x'));
      },
      {.max_body_bytes = 1000});
  EXPECT_EQ(fixture.Get("/a").status().code(), StatusCode::kResourceExhausted);
}

TEST(CpprestTransport, Send_WhenTheServerDropsIdleConnections_OpensANewOne) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.Reply(200, "{}");
    connection.Close();
  });
  for (int i = 0; i < 20; ++i) {
    HttpRequest request{.method = HttpMethod::kPost, .target = "/a"};
    request.content_type = "application/json";
    request.body = std::string(1000, ' ');
    const auto reply = fixture.transport().Send(request, {});
    // The library sends again what met a closed connection, unless it noticed only while writing.
    EXPECT_TRUE(reply.ok() || reply.status().code() == StatusCode::kUnavailable);
  }
}

TEST(CpprestTransport, Stream_WhenChunksSplitAnywhere_DeliversAllBytesInOrder) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    for (const char* piece : {"{\"a\"", ":", "1}\n{", "\"b\":2}", "\n"}) connection.Chunk(piece);
    connection.EndChunks();
  });
  CollectingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/watch"}, sink, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(sink.text(), "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_EQ(reply->body, "");
}

TEST(CpprestTransport, Stream_WhenRefused_CollectsTheBody) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.Reply(410, "gone");
  });
  CollectingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/watch"}, sink, {});
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, 410);
  EXPECT_EQ(reply->body, "gone");
  EXPECT_EQ(sink.text(), "");
}

TEST(CpprestTransport, Stream_WhenStopped_ClosesTheConnection) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    connection.Chunk("event\n");
    connection.WaitEnded(-1);
  });
  CollectingSink sink;
  std::stop_source stop;
  Result<HttpReply> reply = InternalError("not called");
  std::jthread reader(
      [&] { reply = fixture.transport().Stream({.target = "/w"}, sink, stop.get_token()); });
  ASSERT_TRUE(sink.WaitForBytes(6));
  stop.request_stop();
  reader.join();
  EXPECT_EQ(reply.status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

TEST(CpprestTransport, Stream_WhenSilent_EndsAtTheIdleLimit) {
  TransportFixture fixture(
      [](const HttpServerRequest&, HttpServerConnection& connection) {
        connection.BeginChunks(200);
        connection.WaitEnded(-1);
      },
      {.stream_idle_limit = std::chrono::seconds(1)});
  CollectingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/w"}, sink, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
}

/// Fails at the first byte.
class RefusingSink final : public ByteSink {
 public:
  Status Write(std::string_view) override { return DataLossError("malformed"); }
};

TEST(CpprestTransport, Stream_WhenTheSinkFails_ReturnsItsErrorAndClosesTheConnection) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    connection.Chunk("x");
    connection.WaitEnded(-1);
  });
  RefusingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/w"}, sink, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDataLoss);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

/// Holds the reader until it is let go.
class SlowSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    const MutexLock lock(mutex_);
    bytes_ += bytes.size();
    while (!open_) changed_.Wait(mutex_);
    return OkStatus();
  }
  void Open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  std::size_t bytes() const {
    const MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool open_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::size_t bytes_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

TEST(CpprestTransport, Stream_WhenTheReaderIsSlow_TheServerHasToWait) {
  constexpr std::size_t kPiece = 64U << 10;
  constexpr std::size_t kPieces = 2048;  // 128 MiB
  constexpr std::size_t kBound = 32U << 20;
  SlowSink sink;
  std::size_t sent_before_stall = 0;
  TransportFixture fixture([&](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    bool stalled = false;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      if (!stalled && !connection.WaitForRoom(500)) {
        stalled = true;
        sent_before_stall = piece * kPiece;
        sink.Open();
      }
      if (!connection.Chunk(std::string(kPiece, 'x'))) return;
    }
    connection.EndChunks();
    sink.Open();
  });
  const auto reply = fixture.transport().Stream({.target = "/w"}, sink, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_GT(sent_before_stall, 0U) << "everything was taken though nobody read";
  EXPECT_LT(sent_before_stall, kBound);
  EXPECT_EQ(sink.bytes(), kPieces * kPiece);
}

TEST(CpprestTransport, Send_WhenManyThreadsCall_KeepsOneThreadAndReusesConnections) {
  TransportFixture fixture(ReplyOk);
  ASSERT_TRUE(fixture.Get("/warm").ok());
  constexpr int kCallers = 8;
  constexpr int kCalls = 25;
  std::atomic<int> failures{0};
  const auto threads_before = ListDirectory("/proc/self/task")->size();
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        for (int call = 0; call < kCalls; ++call) {
          if (!fixture.Get("/a").ok()) failures.fetch_add(1);
        }
      });
    }
  }
  EXPECT_EQ(failures.load(), 0);
  EXPECT_LE(fixture.server().connections(), kCallers + 1);
  // The server has a thread for each connection; the library has one for all.
  const auto server_threads = static_cast<std::size_t>(fixture.server().connections() - 1);
  EXPECT_LE(ListDirectory("/proc/self/task")->size(), threads_before + server_threads);
}

}  // namespace
}  // namespace pstrain::kube
