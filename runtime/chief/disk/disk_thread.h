#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/chief/disk/disk.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/cluster/process_end.h"

namespace pstrain {

/// The Disk of a real chief: one thread. Owner: the chief, which stops it before its parts end.
/// Post, Watch: any thread.
class DiskThread final : public Disk {
 public:
  /// Every `then` runs through `run_locked`. `clock` outlives it, and so does `end`, which may be
  /// null: it knows the work in hand.
  DiskThread(RunLocked run_locked, const Clock& clock, ProcessEnd* end);

  void Post(const char* what, Work work) override PSTRAIN_EXCLUDES(mutex_);

  /// How long the work in hand has taken so far; zero when there is none. Warns once when a work
  /// takes longer than 10 s.
  std::chrono::nanoseconds Watch() PSTRAIN_EXCLUDES(mutex_);

  /// Waits for the work in hand and its `then`; what else was posted is not done. REQUIRES: the
  /// chief's lock is not held.
  void Stop() PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Posted {
    const char* what;
    Work work;
  };
  struct InHand {
    const char* what;
    std::chrono::nanoseconds since;
    bool warned = false;
  };

  void Run(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  void Finished() PSTRAIN_EXCLUDES(mutex_);

  const RunLocked run_locked_;
  const Clock& clock_;
  ProcessEnd* const end_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Posted> posted_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<InHand> in_hand_ PSTRAIN_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: stops and joins while the rest is there
};

}  // namespace pstrain
