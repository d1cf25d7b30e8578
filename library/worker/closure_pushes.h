#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "library/worker/closure_runner.h"
#include "proto/contract/control.pb.h"
#include "runtime/worker/granted_calls.h"
#include "runtime/worker/push/push_progress.h"
#include "runtime/worker/step_data.h"

namespace pstrain {

/// Every work id of a program counts as one record.
inline constexpr std::uint32_t kRecordsOfClosure = 1;

/// Pushes what closures have come to while the next ones run: a thread that takes all that wait,
/// and pushes them in shared messages until each has ended. Who adds waits while what waits has
/// many bytes. Owner: ClosureLoop. Add: any thread.
class ClosurePushes {
 public:
  /// A closure that has succeeded.
  struct Closure {
    Grant grant;
    ClosureOutcome outcome;
    RoutedPlan plan;
    /// Of those that add: its place in the order in which they began.
    std::uint64_t place = 0;
  };
  /// What one round has come to: the reports of closures that are done, and the places of all that
  /// have ended. Of the thread.
  using Ended =
      std::function<void(std::vector<Report> reports, const std::vector<std::uint64_t>& places)>;
  /// Nothing more is pushed: OK when it was given up, else the error of a ps that refuses.
  using Stopped = std::function<void(Status status)>;

  /// `calls` outlives it.
  ClosurePushes(GrantedCalls& calls, Ended ended, Stopped stopped);
  /// Pushes what was added, unless it has stopped; joins.
  ~ClosurePushes();
  ClosurePushes(const ClosurePushes&) = delete;
  ClosurePushes& operator=(const ClosurePushes&) = delete;

  void Add(Closure closure) PSTRAIN_EXCLUDES(mutex_);
  /// Those that wait or are being pushed.
  std::size_t in_flight() const PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Pushing;

  void Run();
  /// Empty: the end.
  std::vector<Closure> TakeAll() PSTRAIN_EXCLUDES(mutex_);
  /// Rounds until all have ended. False: it was given up.
  Result<bool> PushAll(std::vector<Pushing> closures);
  void Stop() PSTRAIN_EXCLUDES(mutex_);

  GrantedCalls& calls_;
  const Ended ended_;
  const Stopped stopped_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<Closure> waiting_ PSTRAIN_GUARDED_BY(mutex_);
  std::size_t bytes_ PSTRAIN_GUARDED_BY(mutex_) = 0;    // of waiting_
  std::size_t pushing_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // closures of the push under way
  bool closing_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool stopped_now_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

/// What the closure puts into messages, about.
std::size_t BytesOf(const StepUpdates& updates);

}  // namespace pstrain
