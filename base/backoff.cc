#include "base/backoff.h"

#include <algorithm>

namespace pstrain {

Backoff::Backoff(Options options)
    : options_(options), rng_(options.seed), current_(std::min(options.initial, options.cap)) {}

std::chrono::nanoseconds Backoff::Next() {
  const std::chrono::nanoseconds full = current_;
  ++attempts_;
  const double grown = static_cast<double>(full.count()) * options_.factor;
  const bool capped = grown >= static_cast<double>(options_.cap.count());
  current_ = capped ? options_.cap : std::chrono::nanoseconds(static_cast<std::int64_t>(grown));
  const double kept = 1.0 - options_.jitter * rng_.NextDouble();
  const auto delay = static_cast<std::int64_t>(static_cast<double>(full.count()) * kept);
  return std::chrono::nanoseconds(std::clamp<std::int64_t>(delay, 1, options_.cap.count()));
}

void Backoff::Reset() {
  current_ = std::min(options_.initial, options_.cap);
  attempts_ = 0;
}

}  // namespace pstrain
