#include "runtime/stats/refusals.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/stats/names.h"
#include "runtime/stats/token_errors.h"

namespace pstrain {
namespace {

/// Whoever floods a port must not flood the log.
constexpr std::chrono::seconds kLogInterval{10};
/// Hosts and reasons that are remembered.
constexpr std::size_t kMostLines = 128;

/// Of "ipv4:10.0.0.1:4711" or "ipv6:[::1]:4711", as gRPC names peers: each connection has a port of
/// its own.
std::string_view HostOf(std::string_view peer) {
  const bool has_port = peer.starts_with("ipv4:") || peer.starts_with("ipv6:");
  return has_port ? peer.substr(0, peer.rfind(':')) : peer;
}

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
    case StatusCode::kUnavailable:
      if (IsPassingTokenError(kUnknownKey, error)) return RefusalReason::kUnknownKey;
      if (IsPassingTokenError(kWrongTime, error)) return RefusalReason::kWrongTime;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Refusals::Refusals(StatsWriter& writer, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock) {
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    counters_[i] = writer.AddCounter(stats::kRefused[i]);
  }
}

Refusals::Line& Refusals::LineOf(RefusalReason reason, std::string_view from,
                                 std::chrono::nanoseconds now) {
  const std::pair<std::string, RefusalReason> key(HostOf(from), reason);
  if (const auto known = lines_.find(key); known != lines_.end()) return known->second;
  if (lines_.size() >= kMostLines) {
    std::erase_if(lines_, [now](const auto& line) {
      return !line.second.logged || now - *line.second.logged >= kLogInterval;
    });
  }
  return lines_.size() < kMostLines ? lines_[key] : lines_[{std::string(), reason}];
}

void Refusals::Count(RefusalReason reason, std::string_view from, const Status& why) {
  counters_[static_cast<std::size_t>(reason)]->Add();
  std::uint64_t more = 0;
  {
    const std::chrono::nanoseconds now = clock_.Now();
    const MutexLock lock(mutex_);
    Line& line = LineOf(reason, from, now);
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
