#pragma once

#include <chrono>
#include <stop_token>

namespace pstrain::kube {

/// How a retry waits. A seam: tests record the waits instead of waiting. Any thread.
class Pause {
 public:
  virtual ~Pause() = default;
  /// True after the duration, false as soon as a stop is requested.
  virtual bool For(std::chrono::nanoseconds duration, const std::stop_token& stop) = 0;
};

class RealPause final : public Pause {
 public:
  bool For(std::chrono::nanoseconds duration, const std::stop_token& stop) override;
};

}  // namespace pstrain::kube
