#pragma once

#include <chrono>
#include <string>

namespace pstrain {

/// How durations are written for people and for metrics. Pure; any thread.

/// A duration as logs, metrics and results show it.
constexpr double InSeconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// As messages say it, cut to whole seconds: "12 s".
inline std::string WholeSeconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace pstrain
