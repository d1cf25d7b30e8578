#include "tests/process/faults/tun_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pstrain {
namespace {

constexpr std::string_view kPrefix = "10.77.0.";
constexpr const char* kMask = "255.255.255.0";
constexpr const char* kDevice = "tun0";
constexpr std::size_t kMostPacketBytes = 65536;
/// Where the address of the receiver ends in the header of an IPv4 packet (RFC 791).
constexpr std::size_t kHeaderBytes = 20;
constexpr int kIdleMillis = 50;

ifreq RequestFor(const char* device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device, sizeof(request.ifr_name) - 1);
  return request;
}

Status SetAddress(int socket, unsigned long what, const std::string& address) {
  ifreq request = RequestFor(kDevice);
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  inet_pton(AF_INET, address.c_str(), &parsed.sin_addr);
  std::memcpy(&request.ifr_addr, &parsed, sizeof(parsed));
  if (ioctl(socket, what, &request) == 0) return OkStatus();
  return ErrnoError(errno, "set the address " + address);
}

Status SetUp(int socket, const char* device) {
  ifreq request = RequestFor(device);
  if (ioctl(socket, SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    if (ioctl(socket, SIOCSIFFLAGS, &request) == 0) return OkStatus();
  }
  return ErrnoError(errno, std::string("start the device ") + device);
}

Status Configure(int host) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return ErrnoError(errno, "make a socket");
  PSTRAIN_RETURN_IF_ERROR(SetUp(socket.get(), "lo"));
  PSTRAIN_RETURN_IF_ERROR(SetAddress(socket.get(), SIOCSIFADDR, TunNetwork::AddressOf(host)));
  PSTRAIN_RETURN_IF_ERROR(SetAddress(socket.get(), SIOCSIFNETMASK, kMask));
  return SetUp(socket.get(), kDevice);
}

Result<UniqueFd> OpenTun() {
  UniqueFd tun(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun.valid()) return ErrnoError(errno, "open /dev/net/tun");
  ifreq request = RequestFor(kDevice);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tun.get(), TUNSETIFF, &request) != 0) return ErrnoError(errno, "make a tun device");
  return tun;
}

}  // namespace

// Of the calling thread: it is in the new namespace afterwards.
Result<TunNetwork::Host> TunNetwork::MakeHost(int number) {
  if (unshare(CLONE_NEWNET) != 0) return ErrnoError(errno, "make a network namespace");
  Host host;
  host.name_space = UniqueFd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!host.name_space.valid()) return ErrnoError(errno, "open a network namespace");
  PSTRAIN_ASSIGN_OR_RETURN(host.tun, OpenTun());
  PSTRAIN_RETURN_IF_ERROR(Configure(number));
  return host;
}

Result<std::unique_ptr<TunNetwork>> TunNetwork::Create(int hosts, NetworkWeather weather,
                                                       std::uint64_t seed) {
  std::vector<Host> made;
  Status status;
  // A thread of its own, so that the caller stays where it is.
  std::jthread([&] {
    for (int number = 0; number < hosts && status.ok(); ++number) {
      Result<Host> host = MakeHost(number);
      status = host.status();
      if (host.ok()) made.push_back(std::move(host).value());
    }
  }).join();
  if (!status.ok()) return status;
  return std::unique_ptr<TunNetwork>(new TunNetwork(std::move(made), weather, seed));
}

TunNetwork::TunNetwork(std::vector<Host> hosts, NetworkWeather weather, std::uint64_t seed)
    : hosts_(std::move(hosts)),
      weather_(weather),
      cut_(hosts_.size(), std::vector<bool>(hosts_.size())),
      random_(seed),
      thread_([this](const std::stop_token& stop) { Carry(stop); }) {}

TunNetwork::~TunNetwork() = default;

std::string TunNetwork::AddressOf(int host) {
  return std::string(kPrefix) + std::to_string(host + 1);
}

std::vector<std::string> TunNetwork::Enter(int host) const {
  const int fd = hosts_.at(static_cast<std::size_t>(host)).name_space.get();
  return {"/usr/bin/nsenter",
          "--net=/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd), "--"};
}

void TunNetwork::Cut(int from, int to) {
  const MutexLock lock(mutex_);
  cut_.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to)) = true;
}

void TunNetwork::Heal(int from, int to) {
  const MutexLock lock(mutex_);
  cut_.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to)) = false;
}

std::int64_t TunNetwork::packets_cut() const {
  const MutexLock lock(mutex_);
  return packets_cut_;
}

void TunNetwork::Carry(const std::stop_token& stop) {
  std::vector<pollfd> waits;
  for (const Host& host : hosts_) waits.push_back({host.tun.get(), POLLIN, 0});
  while (!stop.stop_requested()) {
    int millis = kIdleMillis;
    if (!packets_.empty()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(packets_.top().due - SteadyNow());
      millis = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kIdleMillis));
    }
    poll(waits.data(), waits.size(), millis);
    for (std::size_t from = 0; from < waits.size(); ++from) {
      if (waits[from].revents != 0) Receive(from);
    }
    Deliver();
  }
}

void TunNetwork::Receive(std::size_t from) {
  std::array<char, kMostPacketBytes> buffer;
  const ssize_t got = read(hosts_[from].tun.get(), buffer.data(), buffer.size());
  if (got < static_cast<ssize_t>(kHeaderBytes) || (buffer[0] >> 4) != 4) return;
  const std::size_t to = static_cast<unsigned char>(buffer[kHeaderBytes - 1]) - std::size_t{1};
  if (to >= hosts_.size()) return;
  {
    const MutexLock lock(mutex_);
    if (cut_[from][to]) {
      ++packets_cut_;
      return;
    }
  }
  if (random_.NextDouble() < weather_.lost || packets_.size() >= kMostPackets) return;
  std::chrono::nanoseconds delay = weather_.delay;
  if (random_.NextDouble() < weather_.late) delay += delay / 2;
  packets_.push({SteadyNow() + delay, next_number_++, to,
                 std::string(buffer.data(), static_cast<std::size_t>(got))});
}

// What a device does not take is lost, as on any network.
void TunNetwork::Deliver() {
  const SteadyTime now = SteadyNow();
  while (!packets_.empty() && packets_.top().due <= now) {
    const Packet& packet = packets_.top();
    const ssize_t ignored =
        write(hosts_[packet.to].tun.get(), packet.bytes.data(), packet.bytes.size());
    static_cast<void>(ignored);
    packets_.pop();
  }
}

}  // namespace pstrain
