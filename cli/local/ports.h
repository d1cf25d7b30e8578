#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"

namespace pstrain::local {

/// `count` different TCP ports of 127.0.0.1 that nobody listened on a moment ago, below the range
/// from which the kernel takes ports for outgoing connections (so that no connection of a peer can
/// take one while its owner restarts). The search starts at a place given by `seed`.
/// RESOURCE_EXHAUSTED when there are not so many.
Result<std::vector<std::uint16_t>> ProbePorts(std::size_t count, std::uint64_t seed);

}  // namespace pstrain::local
