#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The functions of a worker that run, each in a slot, which a thread has: how long each one has
/// run, and whether what it comes to still counts (docs/design/hung-functions.md). One moment
/// decides that: Returned, or the giving up, whichever is first; nothing of an attempt that was
/// given up leaves the worker. The time that an attempt spends in its reads is not its own: its
/// clock stands, and it is not given up before the read ends. A thread whose function hangs is
/// written off; it touches nothing but this when the function returns at last. Shared by the loop
/// and its threads. Any thread.
class RunningCalls {
 public:
  using Slot = std::uint64_t;
  /// Of any deadline: what is longer is as long as this.
  static constexpr std::chrono::hours kMostDeadline{24 * 365};
  /// How long a function without a deadline may run on when it was given up, before it hangs.
  static constexpr std::chrono::seconds kCourtesy{1};

  /// Why an attempt is given up.
  enum class Why : std::uint8_t {
    kMissed,     // it is beyond its deadline
    kCancelled,  // the chief does not wait for it any more
    kLeft,       // the worker leaves
  };
  struct GivenUp {
    /// Without payload.
    Grant grant;
    std::uint64_t place = 0;
    Why why = Why::kMissed;
  };
  /// It runs on though it was given up: its thread is nobody's any more.
  struct Hanging {
    Slot slot = 0;
    Grant grant;
    std::chrono::nanoseconds ran{0};
  };
  struct News {
    /// To be requested without a lock: what a program has hung on them runs there.
    std::vector<std::stop_source> stops;
    std::vector<GivenUp> given_up;
    std::vector<Hanging> hanging;
    /// After Leave: every slot has ended or hangs.
    bool over = false;
    bool any() const { return over || !stops.empty() || !given_up.empty() || !hanging.empty(); }
  };
  /// What becomes of what a function has returned.
  enum class Outcome : std::uint8_t {
    kCounts,
    kGivenUp,     // nothing
    kWrittenOff,  // nothing, and its thread ends
  };

  /// `clock` outlives all calls but those of threads that were written off.
  explicit RunningCalls(const Clock& clock) : clock_(clock) {}
  RunningCalls(const RunningCalls&) = delete;
  RunningCalls& operator=(const RunningCalls&) = delete;

  // ---- the thread of a slot, and who makes it ----

  Slot AddSlot() PSTRAIN_EXCLUDES(mutex_);
  /// A function begins in the slot; `grant` outlives it.
  void Begin(Slot slot, const Grant& grant, std::uint64_t place) PSTRAIN_EXCLUDES(mutex_);
  std::stop_token StopToken(Slot slot) const PSTRAIN_EXCLUDES(mutex_);
  /// False, all: the attempt was given up. After BeginRead has said so, none of the others.
  bool BeginRead(Slot slot) PSTRAIN_EXCLUDES(mutex_);
  bool EndRead(Slot slot) PSTRAIN_EXCLUDES(mutex_);
  /// Within a read: the chief hears otherwise what becomes of the attempt, which is given up now
  /// without news.
  bool GiveBack(Slot slot) PSTRAIN_EXCLUDES(mutex_);
  Outcome Returned(Slot slot) PSTRAIN_EXCLUDES(mutex_);
  bool WrittenOff(Slot slot) const PSTRAIN_EXCLUDES(mutex_);
  /// Its thread does nothing more.
  void Ended(Slot slot) PSTRAIN_EXCLUDES(mutex_);

  // ---- anybody ----

  /// It is told to stop, if it runs.
  void Stop(WorkId work_id) PSTRAIN_EXCLUDES(mutex_);
  /// It is given up, if it runs.
  void GiveUp(WorkId work_id) PSTRAIN_EXCLUDES(mutex_);
  /// All are told to stop, and given up after `bound`. The first bound counts.
  void Leave(std::chrono::nanoseconds bound) PSTRAIN_EXCLUDES(mutex_);
  /// Functions that hang, and have not returned.
  std::size_t hanging() const PSTRAIN_EXCLUDES(mutex_);

  // ---- one thread, which sees to it that the news become true ----

  /// Each once; none: nothing has happened since.
  News TakeNews() PSTRAIN_EXCLUDES(mutex_);
  /// Until there are some.
  News Wait() PSTRAIN_EXCLUDES(mutex_);

 private:
  using Time = std::chrono::nanoseconds;
  struct Running {
    /// Null: no function runs. Of the slot's thread.
    const Grant* grant = nullptr;
    std::uint64_t place = 0;
    /// Zero: none.
    Time deadline{0};
    /// Until `since`; while it reads, all.
    Time spent{0};
    Time since{0};
    bool reading = false;
    bool stopped = false;  // it was told to
    bool cancelled = false;
    bool given_up = false;
    /// Beyond so much of its time it hangs; once it was given up.
    Time hangs_after{0};
    bool written_off = false;
    std::stop_source stop{std::nostopstate};
  };

  static Time SpentBy(const Running& running, Time now) {
    return running.spent + (running.reading ? Time(0) : now - running.since);
  }
  std::optional<Why> WhyGivenUp(const Running& running, Time now) const PSTRAIN_REQUIRES(mutex_);
  void Look(Slot slot, Running& running, Time now, News* news) PSTRAIN_REQUIRES(mutex_);
  News NewsNow() PSTRAIN_REQUIRES(mutex_);
  /// When something may happen with it next.
  Time NextOf(const Running& running) const PSTRAIN_REQUIRES(mutex_);
  /// Wakes Wait if it would sleep for longer.
  void Nudge(Time next) PSTRAIN_REQUIRES(mutex_) {
    if (next < wakes_at_) changed_.NotifyAll();
  }
  Running* Find(WorkId work_id) PSTRAIN_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  /// Of threads that have not ended.
  std::map<Slot, Running> slots_ PSTRAIN_GUARDED_BY(mutex_);
  Slot next_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::vector<std::stop_source> stops_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<Time> leave_at_ PSTRAIN_GUARDED_BY(mutex_);
  bool said_over_ PSTRAIN_GUARDED_BY(mutex_) = false;
  /// Until when Wait sleeps.
  Time wakes_at_ PSTRAIN_GUARDED_BY(mutex_) = Time::min();
};

}  // namespace pstrain
