#pragma once

#include <pstrain/deadline.h>
#include <pstrain/status.h>
#include <pstrain/values.h>

#include <memory>
#include <utility>

namespace pstrain {

class ClosureState;
class ClusterCoordinator;

/// What a scheduled function returns, once it has: a promise. Mirrors
/// tf.distribute.experimental.coordinator.RemoteValue. A value: copies are of the same call. Any
/// thread.
class RemoteValue {
 public:
  /// Waits for the function and returns what it has returned, the same each time. Mirrors
  /// RemoteValue.fetch / get.
  ///
  /// The function's own error; CANCELLED: it was never run, because a function before it had
  /// failed. DEADLINE_EXCEEDED: it has not ended yet. UNAVAILABLE: the run has ended before it.
  Result<Values> Fetch(Deadline deadline) const;

 private:
  friend class ClusterCoordinator;
  explicit RemoteValue(std::shared_ptr<const ClosureState> state) : state_(std::move(state)) {}

  std::shared_ptr<const ClosureState> state_;
};

}  // namespace pstrain
