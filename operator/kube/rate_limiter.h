#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace pstrain::kube {

/// Which requests wait for which. A Lease renewal never waits behind anything else, so that a flood
/// of other calls cannot cost the leadership.
enum class Lane : std::uint8_t { kNormal, kLease };

/// Bounds how many requests are in progress concurrently and, where asked to, how many start per
/// second; and keeps them back where the apiserver asks for that. Shared by all clients of a
/// process; owned by main; any thread.
class RateLimiter {
 public:
  struct Options {
    double per_second = 100;  // 0: as many as there are permits for
    int burst = 200;          // >= 1
    int permits = 16;         // >= 1: concurrent requests in the normal lane
    int lease_permits = 2;    // >= 1
    /// Most that one Hold keeps requests waiting.
    std::chrono::nanoseconds longest_hold = std::chrono::seconds(30);
  };

  /// One request under way; its end lets another begin.
  class Permit {
   public:
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&&) = delete;
    ~Permit();

   private:
    friend class RateLimiter;
    Permit(RateLimiter& limiter, Lane lane) : limiter_(&limiter), lane_(lane) {}
    RateLimiter* limiter_;
    Lane lane_;
  };

  explicit RateLimiter(Options options);
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  /// Waits for a permit and, in the normal lane, for a token of the bucket. CANCELLED when stopped.
  Result<Permit> Acquire(Lane lane, const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);

  /// No request of the normal lane starts for so long: the apiserver has said that it has too many
  /// (429). The one that it refused is not the only one that would be.
  void Hold(std::chrono::nanoseconds duration) PSTRAIN_EXCLUDES(mutex_);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  int& InUse(Lane lane) PSTRAIN_REQUIRES(mutex_);
  CondVar& Changed(Lane lane);
  /// Now or in the future: when the bucket has a token, and nothing is held.
  SteadyTime StartTime(SteadyTime now) PSTRAIN_REQUIRES(mutex_);
  void Release(Lane lane) PSTRAIN_EXCLUDES(mutex_);

  SteadyTime Now() const { return SteadyTime(clock_.Now()); }

  const Options options_;
  const RealClock clock_;
  Mutex mutex_;
  // One for each lane. One waiting thread is notified at a time, and it notifies the next while
  // permits are free: there may be a hundred waiting.
  CondVar normal_changed_;
  CondVar lease_changed_;
  int normal_in_use_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  int lease_in_use_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  double tokens_ PSTRAIN_GUARDED_BY(mutex_);
  SteadyTime refilled_at_ PSTRAIN_GUARDED_BY(mutex_);
  SteadyTime held_until_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
