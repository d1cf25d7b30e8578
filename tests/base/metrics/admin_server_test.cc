#include "base/metrics/admin_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/metrics/collector.h"

namespace pstrain {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The whole answer to `request`, status line and headers included; empty when there is none.
std::string Exchange(std::uint16_t port, const std::string& request) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  std::memcpy(&generic, &name, sizeof(name));
  std::string answer;
  if (::connect(fd, &generic, sizeof(name)) == 0 &&
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(fd);
  return answer;
}

std::string Request(const AdminServer& server, const std::string& path,
                    const std::string& method = "GET") {
  return Exchange(server.port(),
                  method + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
}

TEST(AdminServer, Metrics_AreTheRegistrysPage) {
  MetricsRegistry registry;
  registry.Register([] {
    return std::vector<MetricFamily>{{"up", "Up.", MetricType::kGauge, {{{}, 1, 0, {}}}}};
  });
  auto server = AdminServer::Start({.metrics = &registry});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  EXPECT_NE((*server)->port(), 0);
  EXPECT_EQ((*server)->Url(), "http://127.0.0.1:" + std::to_string((*server)->port()));
  const std::string answer = Request(**server, "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, EndsWith("up 1\n"));
}

TEST(AdminServer, HealthAndReadiness_FollowTheirChecks) {
  std::atomic<bool> ready{false};
  auto server = AdminServer::Start(
      {.ready = [&ready] { return ready ? OkStatus() : UnavailableError("starting"); }});
  ASSERT_TRUE(server.ok());
  EXPECT_THAT(Request(**server, "/healthz"), StartsWith("HTTP/1.1 200"));
  const std::string before = Request(**server, "/readyz");
  EXPECT_THAT(before, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(before, EndsWith("UNAVAILABLE: starting\n"));
  ready = true;
  EXPECT_THAT(Request(**server, "/readyz"), EndsWith("\r\n\r\nok\n"));
}

TEST(AdminServer, Handlers_AnswerTheirPathsOnly) {
  auto server = AdminServer::Start(
      {.handlers = {{"/progress", [] { return HttpResponse{200, "application/json", "{}"}; }}}});
  ASSERT_TRUE(server.ok());
  EXPECT_THAT(Request(**server, "/progress"), HasSubstr("application/json"));
  EXPECT_THAT(Request(**server, "/progress?x=1"), EndsWith("{}"));
  EXPECT_THAT(Request(**server, "/metrics"), StartsWith("HTTP/1.1 404 Not Found"));
  EXPECT_THAT(Request(**server, "/../etc/passwd"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Request(**server, "/progress", "POST"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Request(**server, "/progress", "HEAD"), EndsWith("\r\n\r\n"));
}

TEST(AdminServer, BytesThatAreNotHttp_DoNotStopIt) {
  auto server = AdminServer::Start({});
  ASSERT_TRUE(server.ok());
  Exchange((*server)->port(), "\x16\x03\x01 nonsense\r\n\r\n");
  EXPECT_THAT(Request(**server, "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST(AdminServer, PortInUse_IsAlreadyExists) {
  auto first = AdminServer::Start({});
  ASSERT_TRUE(first.ok());
  auto second = AdminServer::Start({.port = (*first)->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(second.status().message(),
            "admin server on 127.0.0.1:" + std::to_string((*first)->port()) +
                ": the port is in use; "
                "end the process that has it, or take another");
}

TEST(AdminServer, BadAddress_IsInvalid) {
  auto server = AdminServer::Start({.address = "nowhere at all"});
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.status().code(), StatusCode::kInvalidArgument);
}

TEST(AdminServer, AllAddresses_Listen) {
  for (const char* address : {"0.0.0.0"}) {
    auto server = AdminServer::Start({.address = address});
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    EXPECT_THAT(Request(**server, "/healthz"), StartsWith("HTTP/1.1 200"));
  }
}

TEST(AdminServer, ManyConcurrently_AllGetAnAnswer) {
  auto server = AdminServer::Start({});
  ASSERT_TRUE(server.ok());
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        answered += Request(**server, "/healthz").starts_with("HTTP/1.1 200") ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 80);
}

}  // namespace
}  // namespace pstrain
