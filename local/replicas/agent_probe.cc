#include "local/replicas/agent_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/text/http_reply.h"

namespace pstrain::local {
namespace {

constexpr std::chrono::milliseconds kRequestDeadline{2000};
constexpr std::size_t kLargestResponse = std::size_t{4} << 20;
constexpr std::string_view kRequest =
    "GET /progress HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

}  // namespace

short AgentProbe::events() const { return sent_ ? POLLIN : POLLOUT; }

void AgentProbe::Close() {
  socket_.Reset();
  sent_ = false;
  response_.clear();
}

void AgentProbe::Begin(SteadyTime now) {
  Close();
  socket_.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!busy()) return;
  deadline_ = now + kRequestDeadline;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int rc = connect(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (rc != 0 && errno != EINPROGRESS) Close();
}

std::optional<AgentReading> AgentProbe::Advance(SteadyTime now) {
  if (!busy()) return std::nullopt;
  if (now >= deadline_) {
    Close();
    return std::nullopt;
  }
  if (!sent_ && !Send()) return std::nullopt;
  return Receive();
}

/// The request is far smaller than a socket's buffer: it goes out whole or not at all.
bool AgentProbe::Send() {
  const ssize_t sent = send(fd(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (sent != static_cast<ssize_t>(kRequest.size())) {
    Close();
    return false;
  }
  sent_ = true;
  return true;
}

std::optional<AgentReading> AgentProbe::Receive() {
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t got = recv(fd(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      response_.append(buffer.data(), static_cast<std::size_t>(got));
      if (response_.size() <= kLargestResponse) continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
    break;
  }
  const Result<std::string> body = BodyOfReply(response_);
  Close();
  if (!body.ok()) return std::nullopt;
  Result<AgentReading> reading = ParseAgentReading(*body);
  if (!reading.ok()) return std::nullopt;
  return std::move(reading).value();
}

}  // namespace pstrain::local
