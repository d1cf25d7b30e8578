#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// Finds the chief by its name. The name may have several addresses, and a chief that was replaced
/// may still answer at one of them, such as that of a terminating pod: every address is asked for
/// its chief term, and the highest term wins. Several threads may use it if they may call its two
/// functions.
class ChiefFinder {
 public:
  /// How long one address may take. Twice as long after each round in which nobody answered, up to
  /// kLongestProbe: over a long way one connection and one call cost three round trips, and more
  /// where packets are lost.
  static constexpr std::chrono::seconds kProbeTimeout{1};
  static constexpr std::chrono::seconds kLongestProbe{4};

  /// Says hello to "ip:port" and returns the chief term that answers.
  using Probe = std::function<Result<std::uint64_t>(const std::string& address,
                                                    std::chrono::milliseconds timeout)>;
  using Resolve = std::function<Result<std::vector<std::string>>(const std::string& address)>;

  struct Found {
    /// "ip:port".
    std::string address;
    std::uint64_t term = 0;
  };

  /// `resolve`: null for ResolveAddress; tests give their own.
  explicit ChiefFinder(Probe probe, Resolve resolve = nullptr);

  /// One round over all addresses of `chief_address` ("host:port"). UNAVAILABLE when none answers,
  /// with the last error; INVALID_ARGUMENT for a bad address.
  Result<Found> Find(const std::string& chief_address) const;

 private:
  Probe probe_;
  Resolve resolve_;
  mutable std::atomic<std::chrono::milliseconds> timeout_{kProbeTimeout};  // of the next round
};

}  // namespace pstrain
