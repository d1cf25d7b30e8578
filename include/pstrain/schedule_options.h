#pragma once

#include <cstdint>
#include <optional>

namespace pstrain {

/// Which worker a call goes to, and which calls of its phase it comes before. A value.
struct ScheduleOptions {
  /// The index of the worker that is to run it; another one runs it when that one is not there.
  /// Nothing: any worker.
  std::optional<std::int64_t> worker = std::nullopt;
  /// Of calls that may begin, one of a higher priority is begun first, within its phase.
  int priority = 0;
};

}  // namespace pstrain
