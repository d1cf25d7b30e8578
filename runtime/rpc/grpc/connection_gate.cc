#include "runtime/rpc/grpc/connection_gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/server_builder.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace pstrain {
namespace {

/// Descriptors for all else: files of the run, gRPC's own, the agent's pages.
constexpr rlim_t kOtherDescriptors = 256;
/// However few descriptors there are.
constexpr std::size_t kLeastConnections = 16;
/// Until accept is tried again when the process has no descriptor left.
constexpr int kNoDescriptorPauseMs = 100;

/// Each connection has two descriptors.
std::size_t RoomFor(std::size_t most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeastConnections;
  const rlim_t wanted = kOtherDescriptors + 2 * static_cast<rlim_t>(most);
  if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
    const rlim_t before = std::exchange(limit.rlim_cur, std::min(wanted, limit.rlim_max));
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  if (limit.rlim_cur >= wanted) return most;
  const rlim_t left = limit.rlim_cur > kOtherDescriptors ? limit.rlim_cur - kOtherDescriptors : 0;
  return std::clamp<std::size_t>(left / 2, std::min(kLeastConnections, most), most);
}

/// As gRPC names peers.
std::string NameOf(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return std::string("ipv4:") + text.data() + ":" + std::to_string(ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return std::string("ipv6:[") + text.data() + "]:" + std::to_string(ntohs(v6.sin6_port));
}

/// One that is not valid leaves errno.
UniqueFd Bind(const addrinfo& at) {
  UniqueFd fd(socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fd;
  const int on = 1;
  const int off = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // IPv4 too, as gRPC listens on the wildcard.
  if (at.ai_family == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (bind(fd.get(), at.ai_addr, at.ai_addrlen) == 0 && listen(fd.get(), SOMAXCONN) == 0) return fd;
  fd.Reset();
  return fd;
}

}  // namespace

Result<UniqueFd> ListenOn(const std::string& address) {
  const std::string action = "listen on " + address;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return InvalidArgumentError(action + ": no port");
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int resolved = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found);
  if (resolved != 0) return InvalidArgumentError(action + ": " + gai_strerror(resolved));
  UniqueFd fd = Bind(*found);
  const int error = fd.valid() ? 0 : errno;
  freeaddrinfo(found);
  if (fd.valid()) return fd;
  // Where IPv6 is switched off, IPv4 is all of the wildcard.
  if (host == "::" && (error == EADDRNOTAVAIL || error == EAFNOSUPPORT)) {
    return ListenOn("0.0.0.0" + address.substr(colon));
  }
  if (error != EADDRINUSE) return ErrnoError(error, action);
  return FailedPreconditionError(ErrnoError(error, action).message() +
                                 "; end the process that has the port, or take another");
}

Result<std::unique_ptr<ConnectionGate>> ConnectionGate::Listen(const std::string& address,
                                                               std::size_t most,
                                                               ErrorObserver on_refused) {
  PSTRAIN_ASSIGN_OR_RETURN(UniqueFd listener, ListenOn(address));
  std::unique_ptr<ConnectionGate> gate(
      new ConnectionGate(std::move(listener), RoomFor(most), std::move(on_refused)));
  if (!gate->stop_.valid() || !gate->events_.valid() ||
      !gate->Watch(gate->listener_.get(), EPOLLIN) || !gate->Watch(gate->stop_.get(), EPOLLIN)) {
    return ErrnoError(errno, "listen on " + address);
  }
  return gate;
}

ConnectionGate::ConnectionGate(UniqueFd listener, std::size_t most, ErrorObserver on_refused)
    : listener_(std::move(listener)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      most_(most),
      on_refused_(std::move(on_refused)) {}

ConnectionGate::~ConnectionGate() { Stop(); }

std::uint16_t ConnectionGate::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

void ConnectionGate::Start(
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor) {
  acceptor_ = std::move(acceptor);
  thread_ = std::thread([this] { Run(); });
}

void ConnectionGate::Stop() {
  if (thread_.joinable()) {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  listener_.Reset();
  open_.clear();
  acceptor_.reset();
}

bool ConnectionGate::Watch(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void ConnectionGate::Run() {
  constexpr int kEventsOfOneWait = 64;
  std::array<epoll_event, kEventsOfOneWait> events{};
  while (true) {
    const int ready = epoll_wait(events_.get(), events.data(), kEventsOfOneWait, -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == stop_.get()) return;
      if (fd == listener_.get()) {
        Accept();
        continue;
      }
      // gRPC may have its own descriptor for a moment longer: epoll would go on about it.
      epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd, nullptr);
      open_.erase(fd);
    }
  }
}

void ConnectionGate::Accept() {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  UniqueFd fd(accept4(listener_.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                      SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
    // The connection waits in the kernel's queue; others may end meanwhile.
    pollfd stop{stop_.get(), POLLIN, 0};
    poll(&stop, 1, kNoDescriptorPauseMs);
    return;
  }
  UniqueFd second(open_.size() < most_ ? fcntl(fd.get(), F_DUPFD_CLOEXEC, 0) : -1);
  // No events: epoll tells of an end that both sides have seen in any case.
  if (!second.valid() || !Watch(second.get(), 0)) {
    if (!on_refused_) return;
    return on_refused_(NameOf(peer),
                       ResourceExhaustedError("more than " + std::to_string(most_) +
                                              " connections are open, or there is no descriptor"));
  }
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const int watched = second.get();
  open_.emplace(watched, std::move(second));
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.listener_fd = listener_.get();
  connection.fd = fd.Release();
  acceptor_->HandleNewConnection(&connection);
}

}  // namespace pstrain
