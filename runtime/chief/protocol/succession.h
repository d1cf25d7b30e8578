#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Which process is the newest of its index, for one role (rule 8: an earlier attempt does not
/// displace its successor, whichever comes back first). Processes of one attempt follow each other
/// in the order in which they are taken. Remembered after a process is lost, because one that the
/// network had separated may come back; of one attempt the last kMostRetired, so that somebody who
/// invents processes costs no memory. Part of CommitProtocol; one thread at a time.
class Succession {
 public:
  /// An attempt is one process, or a few where a container starts its program again.
  static constexpr std::size_t kMostRetired = 64;

  /// Rule 8: a newer process of that index was taken, or this one was retired. Invariant: once true
  /// of a process it stays true, but for one behind which kMostRetired others of its attempt were
  /// retired.
  bool Outdated(std::uint32_t index, const PeerProcess& process) const {
    const auto known = known_.find(index);
    if (known == known_.end()) return false;
    const Index& replica = known->second;
    return process.attempt < replica.newest.attempt ||
           std::ranges::find(replica.retired, process.id) != replica.retired.end();
  }

  /// Rule 8: the newest of its index from here on. Invariant: `newest` has the highest attempt that
  /// was ever taken, and of that attempt the process that came last; the former one is outdated.
  /// REQUIRES: !Outdated(index, process).
  void Take(std::uint32_t index, const PeerProcess& process) {
    const auto [known, first] = known_.try_emplace(index, Index{process, {}});
    Index& replica = known->second;
    if (first || replica.newest == process) return;
    const PeerProcess former = std::exchange(replica.newest, process);
    // Its attempt is enough to tell a process of an earlier one.
    if (former.attempt < process.attempt) return replica.retired.clear();
    Retire(index, former.id);
  }

  /// Rule 9, Move: a process that was released must not come back. Invariant: at most kMostRetired
  /// are remembered, all of the attempt of `newest`. REQUIRES: it was taken, and is of that
  /// attempt.
  void Retire(std::uint32_t index, std::uint64_t id) {
    std::deque<std::uint64_t>& retired = known_[index].retired;
    retired.push_back(id);
    if (retired.size() > kMostRetired) retired.pop_front();
  }

 private:
  struct Index {
    PeerProcess newest;
    /// Of the newest one's attempt, oldest first.
    std::deque<std::uint64_t> retired;
  };

  std::map<std::uint32_t, Index> known_;
};

}  // namespace pstrain
