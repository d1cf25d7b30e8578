#pragma once

#include <chrono>

#include "base/clock.h"
#include "runtime/stats/stats_writer.h"

namespace pstrain {

/// Charges a thread's time to phases. A value of the thread's own.
class PhaseTimer {
 public:
  /// Adds the time since construction or the last call to `phase`.
  void Charge(SecondsCounter* phase) {
    const SteadyTime now = SteadyNow();
    phase->Add(std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_));
    since_ = now;
  }

 private:
  SteadyTime since_ = SteadyNow();
};

}  // namespace pstrain
