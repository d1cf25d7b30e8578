#pragma once

#include <chrono>

namespace pstrain {

/// A duration as logs, metrics and results show it.
constexpr double InSeconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace pstrain
