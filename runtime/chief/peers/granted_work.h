#pragma once

#include <deque>
#include <set>
#include <vector>

#include "runtime/requests/ids.h"

namespace pstrain {

/// The work ids that one worker process was granted by this chief: what it may name as in flight
/// and report. Part of WorkerPeers; one thread at a time.
///
///   Grant: granted -> Report: reported -> forgotten with the next poll that has reports
///                  -> Keep without it: former, because the word may have been an old one
class GrantedWork {
 public:
  void Grant(WorkId work_id) { granted_.insert(work_id); }
  /// It may be reported: it was granted and not reported, or reported by the last poll with
  /// reports, which comes again when its answer was lost.
  bool MayReport(WorkId work_id) const;
  /// A poll with reports begins.
  void BeginReports();
  void Reported(WorkId work_id);

  struct Change {
    /// Granted and not named: lost on the way, or given back.
    std::vector<WorkId> returned;
    /// Named and never granted.
    std::vector<WorkId> unknown;
  };
  /// What it has: granted and not reported, and named by its last poll.
  const std::set<WorkId>& in_flight() const { return granted_; }
  /// What the worker says that it has in flight. What it has reported and names again was granted
  /// once more while it was in flight, and is so still.
  Change Keep(const std::vector<WorkId>& in_flight);

 private:
  std::set<WorkId> granted_;
  std::set<WorkId> reported_;
  std::set<WorkId> reported_before_;
  /// The last ones that were taken back, oldest first.
  std::deque<WorkId> former_;
};

}  // namespace pstrain
