#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/os/unique_fd.h"
#include "base/status.h"

namespace pstrain::local {

/// TCP ports of 127.0.0.1 for the replicas of one run. As long as this lives, no other run on this
/// machine gets one of them, also while a replica is replaced and nobody listens: each port has a
/// claim, a Unix socket of an abstract name, which ends with the process that holds it. Immutable
/// after Claim; any thread may read.
class ClaimedPorts {
 public:
  /// `count` different ports that nobody listened on a moment ago, below the range from which the
  /// kernel takes ports for outgoing connections (so that no connection of a peer can take one
  /// while its owner restarts). The search starts where `seed` says. RESOURCE_EXHAUSTED
  /// when there are not so many.
  static Result<ClaimedPorts> Claim(std::size_t count, std::uint64_t seed);

  const std::vector<std::uint16_t>& ports() const { return ports_; }

 private:
  std::vector<std::uint16_t> ports_;
  std::vector<UniqueFd> claims_;
};

}  // namespace pstrain::local
