#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace pstrain {

/// How many closures a worker has granted ahead: twice what it has done in the last span of time.
/// Small ones come by the hundred, so that nobody waits for the chief; of slow ones it keeps few,
/// which others could run. One thread.
class ClosurePace {
 public:
  static constexpr std::chrono::milliseconds kSpan{10};

  ClosurePace(std::uint32_t least, std::uint32_t most) : least_(least), most_(most) {}

  /// So many have ended. The window of now.
  std::uint32_t Ended(std::size_t count, SteadyTime now) {
    // The span that was before counts by the part of it that lies within one span from now.
    const SteadyTime::duration passed = now - begin_;
    if (passed >= kSpan) {
      const double share = static_cast<double>(kSpan.count()) /
                           std::chrono::duration<double, std::milli>(passed).count();
      before_ = static_cast<double>(count_) * share;
      count_ = 0;
      begin_ = now;
    }
    count_ += count;
    const double ended = std::max(before_, static_cast<double>(count_));
    return std::clamp(static_cast<std::uint32_t>(std::min(2 * ended, 1e6)), least_, most_);
  }

 private:
  const std::uint32_t least_;
  const std::uint32_t most_;
  SteadyTime begin_{};
  std::size_t count_ = 0;
  double before_ = 0;
};

}  // namespace pstrain
