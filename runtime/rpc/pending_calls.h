#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

/// The requests that wait for a reply, in groups (a group is one connection), and the thread that
/// ends those whose deadline has passed. Each callback runs exactly once, with no lock held. Any
/// thread. One serves all transports of a process and outlives their connections.
class PendingCalls {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  PendingCalls();
  /// REQUIRES: nothing is outstanding.
  ~PendingCalls();
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;

  /// A name for a new group.
  std::uint64_t NewGroup();
  /// The id of the request, never used before. From now on the callback may run.
  std::uint64_t Add(std::uint64_t group, TimePoint deadline, ReplyCallback callback);
  /// False when the request has ended.
  bool Contains(std::uint64_t id) const;
  /// Ends a request; false when it had ended before or belongs to another group.
  bool Complete(std::uint64_t group, std::uint64_t id, Result<Bytes> reply);
  /// Ends all requests of the group.
  void FailGroup(std::uint64_t group, const Status& status);
  /// Waits until no callback of the group runs. REQUIRES: nothing is added to the group any more,
  /// and the caller is not such a callback.
  void WaitIdle(std::uint64_t group);

 private:
  struct Call {
    std::uint64_t group = 0;
    TimePoint deadline;
    ReplyCallback callback;
  };

  void ExpireLoop(const std::stop_token& stop);
  /// Takes the request out and marks its callback as running.
  Call Take(std::uint64_t id) PSTRAIN_REQUIRES(mutex_);
  /// Runs the callback outside the lock.
  void Run(Call call, Result<Bytes> reply) PSTRAIN_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  CondVar earlier_deadline_;  // than wakes_at_
  CondVar idle_;              // a group has become so
  /// Until when the thread waits. Most calls end long before their deadline: to wake the thread for
  /// each of them would cost more than the rest of this class.
  TimePoint wakes_at_ PSTRAIN_GUARDED_BY(mutex_) = TimePoint::max();
  std::unordered_map<std::uint64_t, Call> calls_ PSTRAIN_GUARDED_BY(mutex_);
  std::set<std::pair<TimePoint, std::uint64_t>> deadlines_ PSTRAIN_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::uint64_t> running_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t next_ PSTRAIN_GUARDED_BY(mutex_) = 1;
  std::jthread thread_;  // last: stops and joins while the rest is there
};

}  // namespace pstrain
