#include "local/replicas/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

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

/// Whether somebody listens there now.
bool IsFree(std::uint16_t port) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return false;
  const int one = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
         listen(listener.get(), 1) == 0;
}

/// A descriptor that keeps other runs off the port; none when one of them has it.
UniqueFd ClaimOf(std::uint16_t port) {
  UniqueFd claim(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!claim.valid()) return claim;
  const std::string name = "pstrain-port-" + std::to_string(port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A name that begins with a zero byte is in no file system.
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(claim.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) claim.Reset();
  return claim;
}

}  // namespace

Result<ClaimedPorts> ClaimedPorts::Claim(std::size_t count, std::uint64_t seed) {
  const std::uint32_t range = EphemeralStart() - kLowestPort;
  const auto offset = static_cast<std::uint32_t>(Mix64(seed) % range);
  ClaimedPorts claimed;
  for (std::uint32_t i = 0; i < range && claimed.ports_.size() < count; ++i) {
    const auto port = static_cast<std::uint16_t>(kLowestPort + (offset + i) % range);
    UniqueFd claim = ClaimOf(port);
    if (!claim.valid()) continue;
    claimed.claims_.push_back(std::move(claim));
    if (IsFree(port)) claimed.ports_.push_back(port);
  }
  if (claimed.ports_.size() < count) {
    return ResourceExhaustedError("need " + std::to_string(count) + " free ports on 127.0.0.1, " +
                                  "found " + std::to_string(claimed.ports_.size()));
  }
  return claimed;
}

}  // namespace pstrain::local
