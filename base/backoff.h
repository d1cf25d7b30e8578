#pragma once

#include <chrono>
#include <cstdint>

#include "base/random.h"

namespace pstrain {

/// Delays that grow by a factor up to a cap. A value owned by who retries; not thread-safe. It only
/// computes: the caller waits.
class Backoff {
 public:
  struct Options {
    std::chrono::nanoseconds initial = std::chrono::milliseconds(100);
    std::chrono::nanoseconds cap = std::chrono::seconds(10);
    double factor = 2.0;
    /// A delay is drawn from [d * (1 - jitter), d]; 0 means none, 1 full. In [0, 1].
    double jitter = 0.0;
    std::uint64_t seed = 0;
  };

  explicit Backoff(Options options);

  /// The next delay, in (0, cap]. The first is `initial` (less its jitter).
  std::chrono::nanoseconds Next();

  /// Starts again at `initial`, e.g. after a success.
  void Reset();

  /// Calls of Next() since the start or the last Reset().
  std::int64_t attempts() const { return attempts_; }

 private:
  Options options_;
  Rng rng_;
  std::chrono::nanoseconds current_;
  std::int64_t attempts_ = 0;
};

}  // namespace pstrain
