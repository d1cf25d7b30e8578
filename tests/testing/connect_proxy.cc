#include "tests/testing/connect_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <utility>

namespace pstrain::testing {
namespace {

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

/// Copies what there is to read; false at the end.
bool Copy(int from, int to) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
  return got > 0 && ::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
}

}  // namespace

ConnectProxy::ConnectProxy(std::string status)
    : status_(std::move(status)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      end_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ::bind(listener_.get(), generic, size);
  ::listen(listener_.get(), SOMAXCONN);
  ::getsockname(listener_.get(), generic, &size);
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this] { Accept(); });
}

ConnectProxy::~ConnectProxy() {
  ::eventfd_write(end_.get(), 1);
  accepting_.join();
  threads_.clear();
}

std::vector<std::string> ConnectProxy::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

void ConnectProxy::Accept() {
  std::array<pollfd, 2> fds = {pollfd{listener_.get(), POLLIN, 0}, pollfd{end_.get(), POLLIN, 0}};
  while (::poll(fds.data(), fds.size(), -1) > 0 && fds[1].revents == 0) {
    const int client = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) threads_.emplace_back([this, client] { Serve(client); });
  }
}

void ConnectProxy::Serve(int socket) {
  const UniqueFd client(socket);
  std::string head;
  for (char c = 0; !head.ends_with("\r\n\r\n") && ::recv(client.get(), &c, 1, 0) == 1;) head += c;
  {
    const MutexLock lock(mutex_);
    requests_.push_back(head);
  }
  const std::string reply = "HTTP/1.1 " + status_ + "\r\n\r\n";
  ::send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  const std::size_t colon = head.find(':');
  if (!status_.starts_with("200") || colon == std::string::npos) return;
  const sockaddr_in address =
      Loopback(static_cast<std::uint16_t>(std::stoi(head.substr(colon + 1))));
  const UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return;
  }
  std::array<pollfd, 3> fds = {pollfd{client.get(), POLLIN, 0}, pollfd{server.get(), POLLIN, 0},
                               pollfd{end_.get(), POLLIN, 0}};
  while (::poll(fds.data(), fds.size(), -1) > 0 && fds[2].revents == 0) {
    if (fds[0].revents != 0 && !Copy(client.get(), server.get())) return;
    if (fds[1].revents != 0 && !Copy(server.get(), client.get())) return;
  }
}

}  // namespace pstrain::testing
