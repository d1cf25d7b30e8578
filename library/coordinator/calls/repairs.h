#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/status.h"

namespace pstrain {

/// Calls of which some shards have what they change and others lack it, and whose functions fail
/// when they run for those: how often each has failed so, and which were given up
/// (docs/design/failed-closures.md). By the numbers of the calls. Owner: ClosureQueue. One
/// thread at a time, by its lock.
class Repairs {
 public:
  /// Attempts of a call that may fail before it is given up.
  static constexpr std::uint32_t kMostAttempts = 3;

  /// An attempt has failed so. `unwanted`: the program was told, or will be, that the call changes
  /// nothing. True: it was the last one, and the call is given up.
  bool Failed(std::uint64_t call, bool unwanted, const Status& error);
  /// Some of its attempts have failed so, and it is not committed since.
  bool Has(std::uint64_t call) const { return failed_.contains(call); }
  /// It was given up, and nobody wanted it any more then.
  bool Unwanted(std::uint64_t call) const { return unwanted_.contains(call); }
  /// It is committed: what has failed of it is forgotten. The last error; OK: there was none.
  Status Ended(std::uint64_t call);

  /// Shards go without the update of this call. False: that was known.
  bool Lose(std::uint64_t call) { return lost_.insert(call).second; }
  /// All of them, with those before `Restore`.
  std::uint64_t lost() const { return lost_before_ + lost_.size(); }
  void Restore(std::uint64_t lost) { lost_before_ = lost; }

 private:
  struct Attempts {
    std::uint32_t count = 0;
    Status last;
  };
  std::map<std::uint64_t, Attempts> failed_;
  std::set<std::uint64_t> unwanted_;
  std::set<std::uint64_t> lost_;
  std::uint64_t lost_before_ = 0;
};

}  // namespace pstrain
