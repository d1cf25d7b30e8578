#include "runtime/cluster/chief_finder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/cluster/address.h"

namespace pstrain {

ChiefFinder::ChiefFinder(Probe probe, Resolve resolve)
    : probe_(std::move(probe)), resolve_(std::move(resolve)) {
  if (!resolve_) resolve_ = [](const std::string& address) { return ResolveAddress(address); };
}

Result<ChiefFinder::Found> ChiefFinder::Find(const std::string& chief_address) const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, resolve_(chief_address));
  std::optional<Found> best;
  Status last = UnavailableError("no address");
  const std::chrono::milliseconds timeout = timeout_;
  for (const std::string& address : addresses) {
    const Result<std::uint64_t> term = probe_(address, timeout);
    if (!term.ok()) {
      last = term.status().WithContext(address);
    } else if (!best || *term > best->term) {
      best = Found{address, *term};
    }
  }
  timeout_ = best ? kProbeTimeout : std::min<std::chrono::milliseconds>(2 * timeout, kLongestProbe);
  if (best) return *best;
  return UnavailableError("no chief at " + chief_address + ": " + last.ToString());
}

}  // namespace pstrain
