// Clients that send too slowly, too much or too many requests.
#include "base/metrics/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <latch>
#include <vector>

#include "base/clock.h"
#include "base/os/unique_fd.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::StartsWith;

constexpr seconds kPatience{60};

UniqueFd Connect(const HttpServer& server) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(server.port());
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  std::memcpy(&generic, &name, sizeof(name));
  EXPECT_EQ(::connect(socket.get(), &generic, sizeof(name)), 0);
  return socket;
}

bool SendText(const UniqueFd& socket, const std::string& text) {
  return ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

/// Everything up to the server's end of the connection.
std::string ReadAll(const UniqueFd& socket) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::recv(socket.get(), buffer.data(), buffer.size(), 0)) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string Get(const HttpServer& server, const std::string& path) {
  const UniqueFd socket = Connect(server);
  SendText(socket, "GET " + path + " HTTP/1.1\r\n\r\n");
  return ReadAll(socket);
}

/// The server has closed it: there is an end or an error to read. Waits up to `patience`.
bool IsCut(const UniqueFd& socket, milliseconds patience) {
  pollfd entry{.fd = socket.get(), .events = POLLIN, .revents = 0};
  if (::poll(&entry, 1, static_cast<int>(patience.count())) <= 0) return false;
  char byte = 0;
  return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) <= 0;
}

std::unique_ptr<HttpServer> Start(const HttpServer::Options& options, HttpServer::Answer answer) {
  auto server = HttpServer::Start(options, std::move(answer), [](const HttpRequest& request) {
    return request.path == "/urgent";
  });
  EXPECT_TRUE(server.ok()) << server.status().message();
  return std::move(server).value();
}

HttpResponse Ok(const HttpRequest& /*request*/) { return {}; }

TEST(HttpServer, WhenAHundredClientsSendAByteAtATime_OthersAreAnsweredAndTheyAreCut) {
  const auto server = Start({.deadline = milliseconds(2000)}, Ok);
  const SteadyTime begin = SteadyNow();
  std::vector<UniqueFd> slow(100);
  for (UniqueFd& socket : slow) socket = Connect(*server);
  int answers_meanwhile = 0;
  // Each round sends one byte more of a head that never ends, and asks for a page in between.
  while (!slow.empty() && SteadyNow() - begin < kPatience) {
    for (const UniqueFd& socket : slow) SendText(socket, "G");
    const std::string answer = Get(*server, "/urgent");
    ASSERT_THAT(answer, StartsWith("HTTP/1.1 200"));
    answers_meanwhile += slow.size() == 100 ? 1 : 0;
    std::erase_if(slow, [](const UniqueFd& socket) { return IsCut(socket, milliseconds(1)); });
  }
  EXPECT_TRUE(slow.empty()) << slow.size() << " connections are still open";
  EXPECT_GT(answers_meanwhile, 0);
}

TEST(HttpServer, WhenEveryPlaceIsTaken_TheOldestGoesAndTheNewOneIsAnswered) {
  const auto server = Start({.deadline = kPatience, .max_connections = 4}, Ok);
  std::vector<UniqueFd> idle(4);
  for (UniqueFd& socket : idle) {
    socket = Connect(*server);
    SendText(socket, "GET");
  }
  EXPECT_THAT(Get(*server, "/urgent"), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(IsCut(idle[0], kPatience));
  EXPECT_FALSE(IsCut(idle[3], milliseconds(0)));
}

TEST(HttpServer, WhenAnAnswerTakesLong_UrgentRequestsDoNotWaitForIt) {
  std::latch release(1);
  std::atomic<int> waiting{0};
  const auto server = Start({.deadline = kPatience, .max_connections = 2, .threads = 1},
                            [&](const HttpRequest& request) {
                              if (request.path == "/slow") {
                                ++waiting;
                                release.wait();
                              }
                              return HttpResponse{};
                            });
  const UniqueFd slow = Connect(*server);
  SendText(slow, "GET /slow HTTP/1.1\r\n\r\n");
  while (waiting == 0) ASSERT_THAT(Get(*server, "/urgent"), StartsWith("HTTP/1.1 200"));
  ASSERT_THAT(Get(*server, "/urgent"), StartsWith("HTTP/1.1 200"));
  release.count_down();
}

TEST(HttpServer, WhenTooManyRequestsWait_TheNextOneIsTurnedAway) {
  std::latch release(1);
  std::atomic<int> waiting{0};
  const auto server =
      Start({.deadline = kPatience, .max_connections = 2, .threads = 1}, [&](const HttpRequest&) {
        ++waiting;
        release.wait();
        return HttpResponse{};
      });
  std::vector<UniqueFd> clients;
  std::string last;
  // One is being answered and two wait; clients that came before are closed, not their questions.
  for (int i = 0; i < 64 && !last.starts_with("HTTP/1.1 503"); ++i) {
    clients.push_back(Connect(*server));
    SendText(clients.back(), "GET /page HTTP/1.1\r\n\r\n");
    while (waiting == 0) ASSERT_FALSE(IsCut(clients.back(), milliseconds(1)));
    pollfd entry{.fd = clients.back().get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, 200) > 0) last = ReadAll(clients.back());
  }
  EXPECT_THAT(last, StartsWith("HTTP/1.1 503"));
  release.count_down();
}

TEST(HttpServer, WhenTheHeadIsTooLong_Says431) {
  const auto server = Start({}, Ok);
  const UniqueFd socket = Connect(*server);
  SendText(socket, "GET / HTTP/1.1\r\nX: " + std::string(8192, 'x'));
  EXPECT_THAT(ReadAll(socket), StartsWith("HTTP/1.1 431"));
}

TEST(HttpServer, WhenTheHeadIsNoRequest_Says400) {
  const auto server = Start({}, Ok);
  const UniqueFd socket = Connect(*server);
  SendText(socket, "\x16\x03\x01 nonsense\r\n\r\n");
  EXPECT_THAT(ReadAll(socket), StartsWith("HTTP/1.1 400"));
}

TEST(HttpServer, WhenTheClientSendsABody_TheAnswerStillArrives) {
  const auto server = Start({}, Ok);
  const UniqueFd socket = Connect(*server);
  SendText(socket, "POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\n" + std::string(60000, 'x'));
  EXPECT_THAT(ReadAll(socket), StartsWith("HTTP/1.1 200"));
}

TEST(HttpServer, WhenTheAnswerIsLongAndTheClientDoesNotRead_IsCutToo) {
  constexpr std::size_t kSize = 64U << 20U;
  const auto server = Start({.deadline = milliseconds(500)}, [](const HttpRequest&) {
    HttpResponse response;
    response.body.assign(kSize, 'x');
    return response;
  });
  const UniqueFd socket = Connect(*server);
  SendText(socket, "GET / HTTP/1.1\r\n\r\n");
  pollfd entry{.fd = socket.get(), .events = POLLRDHUP, .revents = 0};
  EXPECT_EQ(::poll(&entry, 1, static_cast<int>(milliseconds(kPatience).count())), 1);
  EXPECT_LT(ReadAll(socket).size(), kSize);
}

TEST(HttpServer, WhenItEndsWithOpenConnections_DoesNotWaitForThem) {
  auto server = Start({.deadline = kPatience}, Ok);
  const UniqueFd socket = Connect(*server);
  SendText(socket, "GET");
  const SteadyTime begin = SteadyNow();
  server.reset();
  EXPECT_LT(SteadyNow() - begin, kPatience / 2);
}

}  // namespace
}  // namespace pstrain
