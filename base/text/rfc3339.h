#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace pstrain {

/// A point in time with the nanoseconds that texts may have; 1677 to 2262.
using UnixNanos = std::chrono::sys_time<std::chrono::nanoseconds>;

/// The time that a text of RFC 3339 means: "2026-01-02T03:04:05.123456789+01:00". Up to nine digits
/// of a second count, more are passed over. nullopt for anything else; a leap second is the second
/// after. Pure; any thread.
std::optional<UnixNanos> ParseRfc3339(std::string_view text);

}  // namespace pstrain
