#pragma once

#include <cstdint>

namespace pstrain {

/// A random number that tells this process from earlier ones of the same task. Ask once and keep
/// it. Any thread.
std::uint64_t RandomProcessId();

}  // namespace pstrain
