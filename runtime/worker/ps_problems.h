#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// What a worker's requests to the ps find wrong: ps that do not answer, and shards that the owner
/// which the membership names refuses. It warns, naming the ps and since when, at most every 10 s
/// for each; and every poll tells the chief, who alone can say which pair of a worker and a ps
/// holds the job up. Any thread.
class PsProblems {
 public:
  static constexpr std::chrono::seconds kWarnEvery{10};

  /// `clock` outlives it.
  explicit PsProblems(const Clock& clock) : clock_(clock) {}

  void Answered(std::uint32_t ps);
  /// `waited`: how long for this answer, if that is worth a warning by itself.
  void NotAnswered(std::uint32_t ps, const Status& error,
                   std::chrono::nanoseconds waited = std::chrono::nanoseconds(0));
  /// The ps owns the shard in the term that the membership names, or says that it does not.
  void Owned(ShardId shard);
  void Refused(std::uint32_t ps, ShardInTerm shard);

  /// Sets `unreachable` and `disowned`.
  void Describe(PollWorkerRequest* request) const;

 private:
  using Time = std::chrono::nanoseconds;
  struct Silence {
    Time since{};
    Time warned{};
    std::string error;
  };

  const Clock& clock_;
  /// Something is in one of the maps: most calls find nothing wrong and need no lock.
  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  std::map<std::uint32_t, Silence> silent_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<ShardId, ShardTerm> refused_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
