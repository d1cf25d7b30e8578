#include "runtime/stats/refusals.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/stats/names.h"

namespace pstrain {
namespace {

/// Whoever floods a port must not flood the log.
constexpr std::chrono::seconds kLogInterval{10};

}  // namespace

std::optional<RefusalReason> RefusalOf(const Status& error) {
  switch (error.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnimplemented:
      return RefusalReason::kMalformed;
    case StatusCode::kOutOfRange:
      return RefusalReason::kOutOfRange;
    case StatusCode::kResourceExhausted:
      return RefusalReason::kTooMuch;
    case StatusCode::kFailedPrecondition:
      return RefusalReason::kOutdated;
    case StatusCode::kUnauthenticated:
      return RefusalReason::kUnauthenticated;
    case StatusCode::kPermissionDenied:
      return RefusalReason::kPermissionDenied;
    default:
      return std::nullopt;
  }
}

Refusals::Refusals(StatsWriter& writer, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    lines_[i].counter = writer.AddCounter(stats::kRefused[i]);
  }
}

void Refusals::Count(RefusalReason reason, std::string_view from, const Status& why) {
  std::uint64_t more = 0;
  {
    const MutexLock lock(mutex_);
    Line& line = lines_[static_cast<std::size_t>(reason)];
    line.counter->Add();
    const std::chrono::nanoseconds now = clock_.Now();
    if (line.logged && now - *line.logged < kLogInterval) {
      ++line.unlogged;
      return;
    }
    line.logged = now;
    more = std::exchange(line.unlogged, 0);
  }
  const StatDefinition& definition = stats::kRefused[static_cast<std::size_t>(reason)];
  LogWarning("rpc", "a request was refused",
             {{"reason", definition.key.substr(definition.key.find('.') + 1)},
              {"from", from},
              {"error", why},
              {"more_since_last", more}});
}

void Refusals::CountIfRefused(std::string_view from, const Status& outcome) {
  if (const auto reason = RefusalOf(outcome)) Count(*reason, from, outcome);
}

}  // namespace pstrain
