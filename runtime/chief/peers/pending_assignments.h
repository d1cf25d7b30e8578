#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// The assignments of shards that one life of a ps was told and has not answered. A ps may be heard
/// all the time while its disk hangs in a restore, or the ps that it takes shards from does not
/// send them: then what it was told is the only thing that says why shards have no owner. A move is
/// given up, because its source still has the shards; each time after longer, up to three times the
/// limit, as the shards may only be large. Part of PsPeers; one thread at a time.
class PendingAssignments {
 public:
  /// The assignment is on its way from `now` on. Returns its number.
  std::uint64_t Begin(const AssignShardsAction& action, ProtocolTime now);
  /// It was answered. False: it had been given up.
  bool End(std::uint64_t number);
  /// Something has been answered well: the next move has the least time again.
  void Answered() { given_up_ = 0; }

  /// Takes out the moves that were not answered within the limit.
  std::vector<AssignShardsAction> GiveUpMoves(std::chrono::nanoseconds limit, ProtocolTime now);

  /// The oldest one, when it has not been answered for more than 10 s, and since when; else empty.
  std::string Describe(ProtocolTime now) const;

  /// The chief was paused: `forgiven` of the time since when one waits is the one that counts.
  void Forgive(const std::function<ProtocolTime(ProtocolTime)>& forgiven);

 private:
  struct Pending {
    ProtocolTime since{};
    AssignShardsAction action;
  };

  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Pending> pending_;
  /// Moves one after the other.
  int given_up_ = 0;
};

}  // namespace pstrain
