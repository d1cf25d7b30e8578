#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// Addresses as text, taken apart. Pure but for ResolveAddress, which blocks; any thread.
struct HostPort {
  /// Without the brackets of an IPv6 literal.
  std::string host;
  std::string port;
};

/// "host:port" or "[v6]:port". INVALID_ARGUMENT when there is no host or no port of 0 to 65535.
Result<HostPort> SplitAddress(std::string_view address);

/// Whether it can be the address of a data plane, as runtime/rpc/transports.h lists them:
/// "host:port", "unix:PATH" or "scheme://REST", of printable ASCII without blanks. INVALID_ARGUMENT
/// says what it is not. Which schemes there are, this does not know.
Status CheckTransportAddress(std::string_view address);

/// "host:port", with brackets around an IPv6 literal.
std::string JoinAddress(std::string_view host, std::string_view port);

/// All addresses that the name of a "host:port" has now, as "ip:port", in the system's order.
/// UNAVAILABLE when the name is not known (yet). Blocks on the resolver.
Result<std::vector<std::string>> ResolveAddress(std::string_view address);

}  // namespace pstrain
