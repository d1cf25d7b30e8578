#include "operator/job/observe/agent_client.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/os/unique_fd.h"
#include "base/text/http_reply.h"

namespace pstrain::job {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<Addresses> ParseAddress(const AgentRequest& request) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(request.ip.c_str(), std::to_string(request.port).c_str(), &hints, &found) != 0) {
    return InvalidArgumentError("\"" + request.ip + "\" is not an IP address");
  }
  return Addresses(found, freeaddrinfo);
}

/// "10.0.0.7:9464" or "[fd00::7]:9464" (RFC 3986, 3.2.2).
std::string Authority(const AgentRequest& request) {
  const bool ipv6 = request.ip.find(':') != std::string::npos;
  return (ipv6 ? "[" + request.ip + "]" : request.ip) + ":" + std::to_string(request.port);
}

/// The exchange on one socket; each step waits until the socket is ready.
class Exchange {
 public:
  Exchange(const AgentRequest& request, const std::stop_token& stop)
      : request_(request),
        deadline_(SteadyNow() + request.timeout),
        stop_(stop),
        bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        ring_(stop, [fd = bell_.get()] {
          const std::uint64_t one = 1;
          [[maybe_unused]] const auto rung = write(fd, &one, sizeof one);
        }) {}

  Result<std::string> Run() {
    PSTRAIN_ASSIGN_OR_RETURN(const Addresses address, ParseAddress(request_));
    const UniqueFd socket_fd(
        socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_fd.valid()) return ErrnoError(errno, "socket");
    PSTRAIN_RETURN_IF_ERROR(Connect(socket_fd.get(), *address));
    PSTRAIN_RETURN_IF_ERROR(Send(socket_fd.get()));
    return Receive(socket_fd.get());
  }

 private:
  static Status Broken(int error) {
    return UnavailableError(ErrnoError(error, "the connection").message());
  }

  Status WaitFor(int fd, short events) const {
    std::array<pollfd, 2> polled{{{fd, events, 0}, {bell_.get(), POLLIN, 0}}};
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - SteadyNow());
      if (left.count() <= 0) return DeadlineExceededError("the agent did not answer in time");
      const int ready = poll(polled.data(), polled.size(), static_cast<int>(left.count()));
      if (stop_.stop_requested()) return CancelledError("stopped");
      if (ready < 0 && errno != EINTR) return ErrnoError(errno, "poll");
      if (ready > 0 && polled[0].revents != 0) return OkStatus();
    }
  }

  Status Connect(int fd, const addrinfo& address) const {
    if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return OkStatus();
    if (errno != EINPROGRESS) return Broken(errno);
    PSTRAIN_RETURN_IF_ERROR(WaitFor(fd, POLLOUT));
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? OkStatus() : Broken(error);
  }

  Status Send(int fd) const {
    const std::string head = "GET " + request_.path + " HTTP/1.1\r\nHost: " + Authority(request_) +
                             "\r\nConnection: close\r\n\r\n";
    std::string_view rest = head;
    while (!rest.empty()) {
      const ssize_t sent = send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        PSTRAIN_RETURN_IF_ERROR(WaitFor(fd, POLLOUT));
      } else if (errno != EINTR) {
        return Broken(errno);
      }
    }
    return OkStatus();
  }

  Result<std::string> Receive(int fd) const {
    std::string reply;
    std::array<char, 16384> buffer{};
    for (;;) {
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
      if (got == 0) return BodyOfReply(reply);
      if (got > 0) {
        reply.append(buffer.data(), static_cast<std::size_t>(got));
        if (reply.size() <= request_.max_bytes) continue;
        return ResourceExhaustedError("the reply is longer than " +
                                      std::to_string(request_.max_bytes) + " bytes");
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        PSTRAIN_RETURN_IF_ERROR(WaitFor(fd, POLLIN));
      } else if (errno != EINTR) {
        return Broken(errno);
      }
    }
  }

  const AgentRequest& request_;
  const SteadyTime deadline_;
  const std::stop_token& stop_;
  const UniqueFd bell_;
  const std::stop_callback<std::function<void()>> ring_;
};

}  // namespace

Result<std::string> GetFromAgent(const AgentRequest& request, const std::stop_token& stop) {
  Result<std::string> body = Exchange(request, stop).Run();
  if (body.ok()) return body;
  return body.status().WithContext("GET http://" + Authority(request) + request.path);
}

}  // namespace pstrain::job
