#include "operator/job/observe/agent_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/testing/tls_http_server.h"

namespace pstrain::job {
namespace {

using pstrain::testing::HttpServerConnection;
using pstrain::testing::HttpServerRequest;
using pstrain::testing::TlsHttpServer;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kBody[] = R"({"values":{"steps":7}})";

AgentRequest RequestTo(const TlsHttpServer& server, const std::string& ip = "127.0.0.1") {
  return {.ip = ip, .port = server.port(), .path = "/progress"};
}

/// Answers these bytes and closes.
pstrain::testing::HttpServerHandler Answer(std::string bytes) {
  return [bytes = std::move(bytes)](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.Write(bytes);
    connection.Close();
  };
}

TEST(GetFromAgent, OfEitherFamily_BringsTheBodyAndNamesTheHost) {
  for (const bool ipv6 : {false, true}) {
    HttpServerRequest seen;
    TlsHttpServer server({.ipv6 = ipv6},
                         [&](const HttpServerRequest& request, HttpServerConnection& connection) {
                           seen = request;
                           connection.Reply(200, kBody);
                           connection.Close();
                         });
    const auto body = GetFromAgent(RequestTo(server, ipv6 ? "::1" : "127.0.0.1"), {});
    ASSERT_TRUE(body.ok()) << body.status().ToString();
    EXPECT_EQ(*body, kBody);
    EXPECT_EQ(seen.method, "GET");
    EXPECT_EQ(seen.target, "/progress");
    const std::string host = ipv6 ? "[::1]:" : "127.0.0.1:";
    EXPECT_EQ(seen.headers["host"], host + std::to_string(server.port()));
  }
}

TEST(GetFromAgent, WhenNobodyListens_IsUnavailableAndNamesTheUrl) {
  AgentRequest request;
  {
    const TlsHttpServer gone({.ipv6 = true}, Answer(""));
    request = RequestTo(gone, "::1");
  }
  const auto body = GetFromAgent(request, {});
  EXPECT_EQ(body.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(body.status().message(),
              HasSubstr("http://[::1]:" + std::to_string(request.port) + "/progress"));
}

TEST(GetFromAgent, OfWhatIsNoAddress_IsRefused) {
  for (const char* ip : {"", "agent", "10.0.0.256", "[::1]", "::1%nowhere"}) {
    const auto body = GetFromAgent({.ip = ip, .port = 1, .path = "/"}, {});
    EXPECT_EQ(body.status().code(), StatusCode::kInvalidArgument) << ip;
  }
}

TEST(GetFromAgent, WhenNothingComes_EndsAtItsDeadline) {
  TlsHttpServer server({},
                       [](const HttpServerRequest&, HttpServerConnection& c) { c.WaitEnded(-1); });
  AgentRequest request = RequestTo(server);
  request.timeout = milliseconds(50);
  EXPECT_EQ(GetFromAgent(request, {}).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(server.WaitForOpenConnections(0));
}

TEST(GetFromAgent, WhenStopped_EndsAtOnce) {
  std::stop_source stop;
  TlsHttpServer server({}, [&](const HttpServerRequest&, HttpServerConnection& connection) {
    stop.request_stop();
    connection.WaitEnded(-1);
  });
  AgentRequest request = RequestTo(server);
  request.timeout = std::chrono::minutes(10);
  EXPECT_EQ(GetFromAgent(request, stop.get_token()).status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(server.WaitForOpenConnections(0));
}

TEST(GetFromAgent, WhenTheAnswerHasNoEnd_StopsReading) {
  TlsHttpServer server({}, [](const HttpServerRequest&, HttpServerConnection& connection) {
    while (connection.Write(std::string(1000, 'x'))) {
    }
  });
  AgentRequest request = RequestTo(server);
  request.max_bytes = 10000;
  EXPECT_EQ(GetFromAgent(request, {}).status().code(), StatusCode::kResourceExhausted);
}

TEST(GetFromAgent, WhenTheConnectionBreaks_IsUnavailable) {
  TlsHttpServer server({}, [](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    connection.Reset();
  });
  EXPECT_EQ(GetFromAgent(RequestTo(server), {}).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace pstrain::job
