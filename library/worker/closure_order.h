#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "base/mutex.h"

namespace pstrain {

/// The closures of a worker that have begun and whose changes are not on every shard yet, in the
/// order in which they began. What one reads lacks the changes of few before it: those that may run
/// beside it. One that reads nothing lacks nothing, and need not wait. Owner: ClosureLoop. Any
/// thread.
class ClosureOrder {
 public:
  std::uint64_t Begin() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    under_way_.insert(under_way_.end(), next_);
    return next_++;
  }
  template <typename Places>
  void End(const Places& places) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    for (const std::uint64_t place : places) under_way_.erase(place);
    changed_.NotifyAll();
  }
  /// Nobody waits any more.
  void GiveUp() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    given_up_ = true;
    changed_.NotifyAll();
  }
  /// Until at most so many that began before this one have not ended: the pushes of those end or
  /// are given up, by the deadlines of a push. False: give up.
  bool WaitForThoseBefore(std::uint64_t place, std::size_t most) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!given_up_ && More(place, most)) changed_.Wait(mutex_);
    return !given_up_;
  }

 private:
  /// More than `most` began before it, and have not ended.
  bool More(std::uint64_t place, std::size_t most) const PSTRAIN_REQUIRES(mutex_) {
    if (under_way_.size() <= most) return false;
    return *std::next(under_way_.begin(), static_cast<std::ptrdiff_t>(most)) < place;
  }

  Mutex mutex_;
  CondVar changed_;
  std::uint64_t next_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::set<std::uint64_t> under_way_ PSTRAIN_GUARDED_BY(mutex_);
  bool given_up_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace pstrain
