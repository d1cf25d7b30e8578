#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/requests/ids.h"

namespace pstrain::simulation {

/// What a program that saves marks was told of its calls, in the history that goes on, and what
/// shards have of them at the end: a call that has succeeded is left out nowhere, and one that has
/// failed everywhere, unless its error says that all shards have it, but for those whose updates
/// the chief has counted as lost in repair. Of the process of a simulation. One thread.
class KnownOutcomes {
 public:
  /// A main goes on from its mark: what was told of calls from `next` on is over.
  void GoesOnAt(std::uint64_t next) { told_.erase(told_.lower_bound(next), told_.end()); }
  void Told(std::uint64_t call, const Status& outcome);
  /// What the coordinator of the main that has finished has counted.
  void SetLost(std::uint64_t lost) { lost_ = lost; }
  std::uint64_t lost() const { return lost_; }
  /// What each shard has left out. INTERNAL: the shards and what was told differ otherwise.
  Status Check(const std::vector<std::set<WorkId>>& left_out) const;

 private:
  /// Of each call, whether shards are to have what it changes.
  std::map<std::uint64_t, bool> told_;
  std::uint64_t lost_ = 0;
};

KnownOutcomes& Outcomes();

}  // namespace pstrain::simulation
