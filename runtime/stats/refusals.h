#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "runtime/stats/stats_writer.h"

namespace pstrain {

/// Why a peer's request, or a part of it, was not carried out: the label `reason` of
/// pstrain_refused_requests_total.
enum class RefusalReason : std::uint8_t {
  /// Bytes or a name that cannot be read.
  kMalformed,
  /// An index, shard, term or attempt that this job does not have.
  kOutOfRange,
  /// Larger, longer or more at a time than the job can need.
  kTooMuch,
  /// A report or a batch in flight that this worker was never granted.
  kNotGranted,
  /// From a former chief, a former life of a ps, or a replica that was started with another job.
  kOutdated,
  /// Nobody that this job knows.
  kUnauthenticated,
  /// Somebody of this job who may not call this method, or not for that index.
  kPermissionDenied,
  /// Somebody whose token is signed by a key that is not known here: forged, or newer than the
  /// keys.
  kUnknownKey,
  /// Somebody whose token is right in all but the time: it has expired, or is not good yet.
  kWrongTime,
};
inline constexpr std::size_t kRefusalReasons = 9;

/// The reason that a call's error stands for; nothing for errors that are no refusals (the peer
/// should try again, or this process is at fault). An unknown key and a token of another time are
/// refusals, though the peer should try again.
std::optional<RefusalReason> RefusalOf(const Status& error);

/// Counts what was refused and logs it: of each peer (its host, whatever the port) and reason one
/// line in 10 s, which says how many there were since the last one. Of peers beyond 128 hosts and
/// reasons in 10 s, one line for each reason. Any thread. Owner: the role; outlives the servers.
class Refusals {
 public:
  /// `clock`: null for the machine's. Both outlive it.
  explicit Refusals(StatsWriter& writer, const Clock* clock = nullptr);

  /// `from`: who asked, the peer's address where it is known. `why` names what was wrong.
  void Count(RefusalReason reason, std::string_view from, const Status& why);
  /// Counts an error that is a refusal; nothing for others, or OK.
  void CountIfRefused(std::string_view from, const Status& outcome);

 private:
  struct Line {
    std::optional<std::chrono::nanoseconds> logged;
    std::uint64_t unlogged = 0;
  };

  Line& LineOf(RefusalReason reason, std::string_view from, std::chrono::nanoseconds now)
      PSTRAIN_REQUIRES(mutex_);

  const RealClock real_clock_;
  const Clock& clock_;
  std::array<Counter*, kRefusalReasons> counters_{};
  Mutex mutex_;
  /// By host; the empty one is all others.
  std::map<std::pair<std::string, RefusalReason>, Line> lines_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
