#include "cli/local/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/random.h"

namespace pstrain::local {
namespace {

constexpr std::uint32_t kLowestPort = 10240;
constexpr std::uint32_t kDefaultEphemeralStart = 32768;

std::uint32_t EphemeralStart() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  std::uint32_t start = 0;
  if (!(file >> start) || start <= kLowestPort) return kDefaultEphemeralStart;
  return std::min(start, std::uint32_t{65535});
}

/// Keeps the ports that it found taken until the search is over, so that none is found twice.
class HeldSockets {
 public:
  HeldSockets() = default;
  HeldSockets(const HeldSockets&) = delete;
  HeldSockets& operator=(const HeldSockets&) = delete;
  ~HeldSockets() {
    for (const int fd : fds_) close(fd);
  }

  bool TryListen(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        listen(fd, 1) != 0) {
      close(fd);
      return false;
    }
    fds_.push_back(fd);
    return true;
  }

 private:
  std::vector<int> fds_;
};

}  // namespace

Result<std::vector<std::uint16_t>> ProbePorts(std::size_t count, std::uint64_t seed) {
  const std::uint32_t range = EphemeralStart() - kLowestPort;
  const auto offset = static_cast<std::uint32_t>(Mix64(seed) % range);
  HeldSockets held;
  std::vector<std::uint16_t> ports;
  for (std::uint32_t i = 0; i < range && ports.size() < count; ++i) {
    const auto port = static_cast<std::uint16_t>(kLowestPort + (offset + i) % range);
    if (held.TryListen(port)) ports.push_back(port);
  }
  if (ports.size() < count) {
    return ResourceExhaustedError("need " + std::to_string(count) + " free ports on 127.0.0.1, " +
                                  "found " + std::to_string(ports.size()));
  }
  return ports;
}

}  // namespace pstrain::local
