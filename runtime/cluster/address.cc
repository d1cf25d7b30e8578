#include "runtime/cluster/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/text/parse_number.h"

namespace pstrain {

Result<HostPort> SplitAddress(std::string_view address) {
  const std::string quoted = "address \"" + std::string(address) + "\"";
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return InvalidArgumentError(quoted + " is not host:port");
  }
  std::string_view host = address.substr(0, colon);
  const std::string_view port = address.substr(colon + 1);
  if (!ParseNumber<std::uint16_t>(port)) {
    return InvalidArgumentError(quoted + " has no port of 0 to 65535");
  }
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return InvalidArgumentError(quoted + ": an IPv6 address needs brackets");
  }
  if (host.empty()) return InvalidArgumentError(quoted + " has no host");
  if (host.find_first_of("[]") != std::string_view::npos) {
    return InvalidArgumentError(quoted + ": brackets stand around an IPv6 address alone");
  }
  return HostPort{std::string(host), std::string(port)};
}

Status CheckTransportAddress(std::string_view address) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kSchemeEnd = "://";
  if (!std::ranges::all_of(address, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return InvalidArgumentError("an address with blanks, or with other than ASCII characters");
  }
  const std::size_t end = address.find(kSchemeEnd);
  if (end == std::string_view::npos) {
    if (address.starts_with(kUnix) && address.size() > kUnix.size()) return OkStatus();
    return SplitAddress(address).status();
  }
  const std::string_view scheme = address.substr(0, end);
  const auto of_scheme = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  if (!scheme.empty() && std::ranges::all_of(scheme, of_scheme) &&
      address.size() > end + kSchemeEnd.size()) {
    return OkStatus();
  }
  return InvalidArgumentError("address \"" + std::string(address) + "\" is not scheme://address");
}

std::string JoinAddress(std::string_view host, std::string_view port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::string(port);
}

Result<std::vector<std::string>> ResolveAddress(std::string_view address) {
  PSTRAIN_ASSIGN_OR_RETURN(const HostPort parts, SplitAddress(address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(parts.host.c_str(), parts.port.c_str(), &hints, &found);
  if (error != 0) return UnavailableError("resolve " + parts.host + ": " + gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    char ip[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, ip, sizeof(ip), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    std::string text = JoinAddress(ip, parts.port);
    if (std::find(addresses.begin(), addresses.end(), text) == addresses.end()) {
      addresses.push_back(std::move(text));
    }
  }
  if (addresses.empty()) return UnavailableError("resolve " + parts.host + ": no address");
  return addresses;
}

}  // namespace pstrain
