#pragma once

#include <chrono>
#include <cstdint>
#include <variant>

namespace pstrain {

/// With the first call that fails, all that nobody has begun are voided, as in TensorFlow.
struct FailFast {
  friend bool operator==(const FailFast&, const FailFast&) = default;
};
/// So many calls of a run may fail: each is an error of its own RemoteValue alone, and counted
/// (ClusterCoordinator::FailedCalls), also over marks that the run returns to. With each one beyond
/// that, as FailFast; then the coordinator goes on. TensorFlow has no budget.
struct Budget {
  std::uint64_t calls = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};
using ErrorPolicy = std::variant<FailFast, Budget>;

/// How a coordinator goes about its calls; TensorFlow's takes no options. A value.
struct CoordinatorOptions {
  ErrorPolicy errors = FailFast{};
  /// After an error that voids what nobody has begun, functions that run are told to stop
  /// (Step::stop_token). One that has not returned after so long is given up: its call is void, and
  /// its RemoteValue CANCELLED. Positive.
  std::chrono::milliseconds cancel_timeout = std::chrono::seconds(60);
  friend bool operator==(const CoordinatorOptions&, const CoordinatorOptions&) = default;
};

}  // namespace pstrain
