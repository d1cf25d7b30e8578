#pragma once

#include <cstdint>
#include <optional>

namespace pstrain {

/// Which worker a call goes to, and which of its phase it precedes; TensorFlow has none. A value.
struct ScheduleOptions {
  /// The index of the worker that is to run it (Step::worker_index); others run it while that one
  /// is not there: not yet, or not any more. Calls behind it in its phase do not wait for it.
  /// Nothing: any worker. INVALID_ARGUMENT by Schedule: the strategy has no such worker.
  std::optional<std::int64_t> worker = std::nullopt;
  /// Of calls of a phase that may begin, one of a higher priority is given to a worker first, equal
  /// ones in the order of Schedule. What a worker was given already is not overtaken: it has some
  /// calls ahead.
  int priority = 0;
};

}  // namespace pstrain
