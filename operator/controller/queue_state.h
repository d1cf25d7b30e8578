#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "operator/kube/resource.h"

namespace pstrain::kube {

/// Changes go before what a start or a resync has put in.
enum class Priority : std::uint8_t { kNormal, kLow };

/// The decisions of a work queue, without threads or clock: every call says what time it is. Owned
/// by a WorkQueue; one thread at a time.
///
///   key is   | Add                  | Get         | Done
///   absent   | waiting or ready     | -           | -
///   waiting  | earlier of the two   | when due    | -
///   ready    | higher priority wins | working     | -
///   working  | kept for afterwards  | never       | absent, or ready/waiting if kept
class QueueState {
 public:
  using Time = std::chrono::nanoseconds;  // of a Clock

  struct Options {
    Time first_backoff = std::chrono::milliseconds(5);
    Time longest_backoff = std::chrono::seconds(1000);
  };

  /// A key that was taken, and since when it was ready.
  struct Item {
    ObjectKey key;
    Time ready_at;
  };

  explicit QueueState(Options options) : options_(options) {}

  /// Asks for the key at `due` or, when that is not after now, as soon as possible.
  void Add(const ObjectKey& key, Time due, Priority priority);

  /// The next key that is due, by priority and then by time. It is not given out again before Done.
  std::optional<Item> Get(Time now);

  /// REQUIRES: the key was taken.
  void Done(const ObjectKey& key);

  /// When the next key is due; nullopt when none waits. May lie in the past.
  std::optional<Time> NextDue() const;

  /// The wait after one more failure of the key: doubles with each, up to the cap.
  Time NextBackoff(const ObjectKey& key);
  /// The key has succeeded.
  void Forget(const ObjectKey& key) { failures_.erase(key); }
  int NumRequeues(const ObjectKey& key) const;

  /// Keys that are due and not being worked on.
  std::size_t Depth(Time now) const;
  std::size_t working() const { return working_.size(); }

 private:
  struct Request {
    Time due;
    Priority priority;
  };
  using Entry = std::tuple<Priority, Time, ObjectKey>;

  static Request Earlier(const Request& a, const Request& b);
  void Enqueue(const ObjectKey& key, Request request);

  const Options options_;
  std::map<ObjectKey, Request> queued_;
  std::set<Entry> order_;  // the same keys
  std::map<ObjectKey, std::optional<Request>> working_;
  std::map<ObjectKey, int> failures_;
};

}  // namespace pstrain::kube
