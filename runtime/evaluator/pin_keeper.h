#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace pstrain {

/// Has the chief told again and again which checkpoint is being read, while an evaluation lasts: a
/// chief that has just started deletes nothing before it knows. Lives as long as the evaluation;
/// its destructor waits for the call in flight. One thread makes and destroys it, another one of
/// its own calls `tell`.
class PinKeeper {
 public:
  /// `tell`: the first time after `pause`, and then with that pause in between.
  PinKeeper(std::function<void()> tell, std::chrono::milliseconds pause)
      : thread_([tell = std::move(tell), pause](const std::stop_token& stop) {
          while (PauseFor(pause, stop)) tell();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace pstrain
