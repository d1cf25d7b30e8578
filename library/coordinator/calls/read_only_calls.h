#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "library/coordinator/call_options.h"
#include "library/coordinator/calls/missed_calls.h"
#include "library/coordinator/closure_state.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Calls of functions that change nothing, which have no work id
/// (docs/design/read-only-functions.md): who has which, and what waits. A call is granted as an
/// attempt with a number of its own; the first attempt that ends it counts, and what is said of one
/// that is forgotten is about nothing. A call is forgotten when it has ended. Part of ClosureQueue;
/// one thread at a time.
///
///   open -> Grants: with a worker -> Take: ended, by the queue
///                                 -> Return, Missed, a worker that is lost: open,
///                                    or after StopRunning: TakeStopped, ended, by the queue
class ReadOnlyCalls {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// A call, but for what becomes of it.
  struct Call {
    std::shared_ptr<ClosureState> state;
    std::string payload;
    /// It is begun when all work ids below are committed.
    WorkId after;
    /// Of all calls of the program, in the order of Schedule.
    std::uint64_t order = 0;
    /// How many errors were told before it was scheduled.
    std::uint64_t told = 0;
    ScheduleOptions schedule = {};
    std::optional<std::chrono::milliseconds> deadline = std::nullopt;
    /// Its function's name.
    std::string function = {};
  };

  /// REQUIRES: `call.order` is above those before.
  void Add(Call call);
  /// The phase ends; the work id that is added next has this number.
  void EndPhase(std::uint64_t next);
  /// Work ids with this number and higher ones are of a phase after one that a call is of, which
  /// has not ended; kNone: there is none.
  std::uint64_t held_from() const;

  /// Calls of the first phase that has some, in the order, if `may_begin` says so of what they are
  /// after; they are with the worker.
  std::vector<Grant> Grants(std::uint32_t worker, std::size_t want,
                            const std::function<bool(WorkId after)>& may_begin);
  /// The call of an attempt that counts; null: of none.
  const Call* Find(WorkId attempt) const;
  /// The call has ended. REQUIRES: Find(attempt).
  Call Take(WorkId attempt);
  /// The attempt does not count any more: its call is open again. Without effect for one that is
  /// none.
  void Return(WorkId attempt);
  /// The same: it was beyond its deadline. Not OK, and the attempt counts still: it was the last of
  /// MissedCalls::kMostAttempts, and that is the call's error. REQUIRES: Find(attempt).
  Status Missed(WorkId attempt);
  void SetRegistered(std::uint32_t worker, bool registered);
  /// Takes those that nobody has.
  std::vector<Call> TakeOpen();
  /// Calls that workers have now are granted no more. Returns their attempts.
  std::vector<WorkId> StopRunning();
  /// Takes those of which that was said, and that nobody has any more.
  std::vector<Call> TakeStopped();
  /// All of them.
  std::vector<Call> TakeAll();

  /// How many any worker may have, about; whether there is one for that worker alone.
  std::uint64_t Open(const std::function<bool(WorkId after)>& may_begin) const;
  bool OpenFor(std::uint32_t worker, const std::function<bool(WorkId after)>& may_begin) const;
  std::size_t size() const { return calls_.size(); }
  /// The order of the first one; kNone: there is none.
  std::uint64_t first() const { return calls_.empty() ? kNone : calls_.begin()->first; }
  /// Of what is kept, about.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Pending {
    Call call;
    std::uint64_t phase = 0;
    std::optional<std::uint64_t> attempt = std::nullopt;
    bool stops = false;
    /// Where attempts have missed their deadline; and how often the last of these workers was
    /// passed over since.
    std::vector<std::uint32_t> missed_on = {};
    int passed_over = 0;
  };
  struct Attempt {
    std::uint64_t order = 0;
    std::uint32_t worker = 0;
  };
  /// Of an open call, in the order.
  struct Place {
    std::uint64_t phase = 0;
    std::int64_t urgency = 0;  // the lowest first
    std::uint64_t order = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Places = std::set<Place>;

  static Place PlaceOf(const Pending& pending);
  /// Where an open call lies.
  Places& PlacesOf(const Pending& pending);
  void Close(const Pending& pending);
  void Reopen(Pending& pending);
  /// Another worker is to have it, while there is one and has not had the time to ask.
  bool PassesOver(std::uint32_t worker, Pending& pending) const;
  void Give(std::uint32_t worker, Pending& pending, std::vector<Grant>* grants);
  Call Forget(std::uint64_t order);
  std::vector<Call> Forget(const std::vector<std::uint64_t>& orders);
  /// The first phase that has a call begins now.
  bool MayBegin(const std::function<bool(WorkId after)>& may_begin) const;
  bool InFirstPhase(const Places& places) const;

  /// By order.
  std::map<std::uint64_t, Pending> calls_;
  /// By number; each is that of its call.
  std::map<std::uint64_t, Attempt> attempts_;
  std::uint64_t next_attempt_ = 0;
  Places anybody_;
  /// For workers that are there; no part is empty.
  std::map<std::uint32_t, Places> kept_;
  std::set<std::uint32_t> registered_;
  /// Nobody has them, and nobody will: by order.
  std::vector<std::uint64_t> stopped_;
  std::uint64_t phase_ = 0;
  /// By phase that has ended: the number of the first work id behind it.
  std::map<std::uint64_t, std::uint64_t> holds_;
  std::size_t bytes_ = 0;
};

}  // namespace pstrain
