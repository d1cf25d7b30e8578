#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Calls of which attempts were beyond their deadline and were given up by their workers
/// (docs/design/hung-functions.md): how often, on whom, and who is to have the next attempt. By the
/// numbers of the calls. Owner: ClosureQueue. One thread at a time, by its lock.
class MissedCalls {
 public:
  /// Attempts of a call that may miss their deadline before it is an error.
  static constexpr std::size_t kMostAttempts = 3;
  /// What a call has come to of which attempts on these workers have missed their deadline. `name`:
  /// of its function.
  static Status ErrorOn(const std::vector<std::uint32_t>& workers, const std::string& name,
                        std::chrono::milliseconds deadline);
  /// How long such a call waits for another worker than the one that had it.
  static constexpr std::chrono::seconds kElsewhere{5};

  /// An attempt of the call has missed its deadline on that worker. True: it was the last one.
  bool Missed(std::uint64_t call, std::uint32_t worker) {
    Attempts& attempts = missed_[call];
    attempts.workers.push_back(worker);
    attempts.waits = true;
    attempts.since.reset();
    return attempts.workers.size() == kMostAttempts;
  }
  /// The error of a call that has missed its deadline kMostAttempts times; OK: it has not.
  Status ErrorOf(std::uint64_t call, const std::string& name,
                 std::chrono::milliseconds deadline) const;
  /// It is committed: what has become of it is forgotten.
  void Ended(std::uint64_t call) { missed_.erase(call); }
  /// Those that have waited long enough for another worker, each once.
  std::vector<std::uint64_t> Waited(ProtocolTime now);

 private:
  struct Attempts {
    std::vector<std::uint32_t> workers;
    /// For another worker, from the first Waited on.
    bool waits = false;
    std::optional<ProtocolTime> since;
  };
  std::map<std::uint64_t, Attempts> missed_;
};

}  // namespace pstrain
