#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "runtime/requests/ids.h"

namespace pstrain {

/// Work ids that a worker has given back, so that the second time for the same one is noticed. An
/// id is forgotten once the worker has finished it. What others finish the worker does not hear of:
/// of such ids the newest kMost are kept. One thread at a time.
class GivenBack {
 public:
  /// Far beyond what is in flight: an id that comes back to this worker comes before so many others
  /// do.
  static constexpr std::size_t kMost = 1024;

  /// False: it was given back before.
  bool Add(WorkId work_id) {
    if (!known_.insert(work_id).second) return false;
    order_.push_back(work_id);
    if (order_.size() > kMost) {
      known_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }
  /// This worker has finished it.
  void Finished(WorkId work_id) {
    if (known_.erase(work_id) > 0) std::erase(order_, work_id);
  }

  std::size_t size() const { return known_.size(); }

 private:
  std::set<WorkId> known_;
  /// The same, the oldest first.
  std::deque<WorkId> order_;
};

}  // namespace pstrain
