#pragma once

#include <chrono>

#include "runtime/stats/stats_writer.h"

namespace pstrain {

/// Charges a thread's time to phases. A value of the thread's own.
class PhaseTimer {
 public:
  /// Adds the time since construction or the last call to `phase`.
  void Charge(SecondsCounter* phase) {
    const auto now = std::chrono::steady_clock::now();
    phase->Add(std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_));
    since_ = now;
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace pstrain
