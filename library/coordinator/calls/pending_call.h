#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "library/coordinator/closure_state.h"

namespace pstrain {

/// What ClosureQueue keeps of its calls. Plain data; its mutex guards what changes.

/// How much a queue takes.
struct QueueLimits {
  /// Bytes of one closure's payload; of all closures that are kept, and of what atomic functions
  /// have come to.
  std::size_t payload = std::size_t{1} << 20;
  std::size_t kept = std::size_t{256} << 20;
  /// How long Schedule waits for room while no closure ends and nothing is forgotten.
  std::chrono::nanoseconds patience = std::chrono::minutes(10);
};

/// A closure that is not committed yet.
struct PendingCall {
  std::shared_ptr<ClosureState> state;
  /// As ClosureQueue::calls.
  std::uint64_t order = 0;
  bool may_be_voided = true;
  bool voided = false;
  /// Of its function.
  std::string name = {};
  std::chrono::milliseconds deadline{0};
  /// Of an attempt that was reported while a shard was on its way.
  std::optional<std::string> result = std::nullopt;
};

/// The first error since the last one that was delivered.
struct FirstFailure {
  Status first;
  std::uint64_t others = 0;
};

}  // namespace pstrain
