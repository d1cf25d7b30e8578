#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Which process is the newest of its index, for one role (rule 8: an earlier attempt does not
/// displace its successor, whichever comes back first). Processes of one attempt follow each other
/// in the order in which they are taken. Remembered after a process is lost, because one that the
/// network had separated may come back. Part of CommitProtocol; one thread at a time.
class Succession {
 public:
  /// A newer process of that index was taken, or this one was retired.
  bool Outdated(std::uint32_t index, const PeerProcess& process) const {
    const auto newest = newest_.find(index);
    return retired_.contains(process.id) ||
           (newest != newest_.end() && process.attempt < newest->second.attempt);
  }

  /// The newest of its index from here on.
  /// REQUIRES: !Outdated(index, process).
  void Take(std::uint32_t index, const PeerProcess& process) {
    const auto [newest, first] = newest_.try_emplace(index, process);
    if (first || newest->second == process) return;
    retired_.insert(newest->second.id);
    newest->second = process;
  }

  /// A process that must not come back.
  void Retire(std::uint64_t id) { retired_.insert(id); }

 private:
  std::map<std::uint32_t, PeerProcess> newest_;
  std::set<std::uint64_t> retired_;
};

}  // namespace pstrain
