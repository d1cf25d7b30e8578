#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "cli/cluster/logs/log_lines.h"

namespace pstrain::cluster {

/// Joins the lines of several streams into one, in the order of their time stamps. Each stream has
/// a thread that calls Put and End; one more calls Next. A stream that is ahead waits: of each at
/// most 1000 lines are kept.
class LineMerge {
 public:
  /// Where a stream has nothing yet, a line of another waits for it at most `hold`, counted from
  /// its arrival: zero gives lines as they come, kForEver is exact.
  static constexpr std::chrono::nanoseconds kForEver = std::chrono::nanoseconds::max();
  LineMerge(std::size_t streams, std::chrono::nanoseconds hold, const Clock& clock)
      : hold_(hold), clock_(clock), streams_(streams) {}

  /// A line without a time stamp belongs to the line before it. False once Stop was called.
  bool Put(std::size_t stream, LogLine line) PSTRAIN_EXCLUDES(mutex_);
  void End(std::size_t stream) PSTRAIN_EXCLUDES(mutex_);
  /// Nobody calls Next any more.
  void Stop() PSTRAIN_EXCLUDES(mutex_);

  struct Next {
    std::size_t stream = 0;
    LogLine line;
  };
  /// Waits; nothing when all streams have ended and were read.
  std::optional<Next> TakeNext() PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Waiting {
    LogLine line;
    UnixNanos time;
    std::chrono::nanoseconds arrived;
  };
  struct Stream {
    std::deque<Waiting> lines;
    UnixNanos last_time{};
    bool ended = false;
  };
  /// The earliest first line; null when there is none.
  const Stream* Earliest() const PSTRAIN_REQUIRES(mutex_);
  bool AllKnown() const PSTRAIN_REQUIRES(mutex_);

  const std::chrono::nanoseconds hold_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Stream> streams_ PSTRAIN_GUARDED_BY(mutex_);
  bool stopped_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace pstrain::cluster
