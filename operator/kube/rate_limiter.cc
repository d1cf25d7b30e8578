#include "operator/kube/rate_limiter.h"

#include <algorithm>

namespace pstrain::kube {

RateLimiter::Permit::Permit(Permit&& other) noexcept
    : limiter_(other.limiter_), lane_(other.lane_) {
  other.limiter_ = nullptr;
}

RateLimiter::Permit::~Permit() {
  if (limiter_ != nullptr) limiter_->Release(lane_);
}

RateLimiter::RateLimiter(Options options)
    : options_(options), tokens_(options.burst), refilled_at_(Now()), held_until_(Now()) {}

int& RateLimiter::InUse(Lane lane) { return lane == Lane::kLease ? lease_in_use_ : normal_in_use_; }

CondVar& RateLimiter::Changed(Lane lane) {
  return lane == Lane::kLease ? lease_changed_ : normal_changed_;
}

RateLimiter::SteadyTime RateLimiter::StartTime(SteadyTime now) {
  if (held_until_ > now) return held_until_;
  if (options_.per_second <= 0) return now;
  const std::chrono::duration<double> passed = now - refilled_at_;
  tokens_ = std::min<double>(options_.burst, tokens_ + passed.count() * options_.per_second);
  refilled_at_ = now;
  if (tokens_ >= 1) return now;
  const std::chrono::duration<double> missing((1 - tokens_) / options_.per_second);
  // Rounded up: a wait that ends a nanosecond early would be followed by another.
  return now + std::chrono::duration_cast<std::chrono::nanoseconds>(missing) +
         std::chrono::microseconds(1);
}

Result<RateLimiter::Permit> RateLimiter::Acquire(Lane lane, const std::stop_token& stop) {
  CondVar& changed = Changed(lane);
  const int permits = lane == Lane::kLease ? options_.lease_permits : options_.permits;
  const MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    if (InUse(lane) >= permits) {
      changed.Wait(mutex_, stop);
      continue;
    }
    const SteadyTime now = Now();
    const SteadyTime token_at = lane == Lane::kLease ? now : StartTime(now);
    if (token_at > now) {
      changed.WaitUntil(mutex_, token_at, stop);
      continue;
    }
    if (lane == Lane::kNormal && options_.per_second > 0) tokens_ -= 1;
    if (++InUse(lane) < permits) changed.NotifyOne();
    return Permit(*this, lane);
  }
  changed.NotifyOne();  // what notified this thread may be for another
  return CancelledError("stopped while waiting for the rate limiter");
}

void RateLimiter::Hold(std::chrono::nanoseconds duration) {
  const MutexLock lock(mutex_);
  const SteadyTime until = Now() + std::min(duration, options_.longest_hold);
  held_until_ = std::max(held_until_, until);
}

void RateLimiter::Release(Lane lane) {
  {
    const MutexLock lock(mutex_);
    --InUse(lane);
  }
  Changed(lane).NotifyOne();
}

}  // namespace pstrain::kube
