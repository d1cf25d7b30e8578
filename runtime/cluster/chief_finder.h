#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// Finds the chief behind its name. Several addresses may answer for it, one of a terminating pod
/// among them: each is tried, and the one with the highest chief term is kept. Stateless but for
/// its functions, which say whether several threads may use it.
class ChiefFinder {
 public:
  /// How long one address may take.
  static constexpr std::chrono::seconds kProbeTimeout{1};

  /// Says hello to "ip:port" and returns the chief term that answers.
  using Probe = std::function<Result<std::uint64_t>(const std::string& address,
                                                    std::chrono::milliseconds timeout)>;
  using Resolve = std::function<Result<std::vector<std::string>>(const std::string& address)>;

  struct Found {
    /// "ip:port".
    std::string address;
    std::uint64_t term = 0;
  };

  /// `resolve` is ResolveAddress, but for tests.
  explicit ChiefFinder(Probe probe, Resolve resolve = nullptr);

  /// One round over all addresses of `chief_address` ("host:port"). UNAVAILABLE when none answers,
  /// with the last error; INVALID_ARGUMENT for a bad address.
  Result<Found> Find(const std::string& chief_address) const;

 private:
  Probe probe_;
  Resolve resolve_;
};

}  // namespace pstrain
