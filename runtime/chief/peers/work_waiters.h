#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>

#include "proto/contract/control.pb.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// The workers that wait to hear of work (ChiefControl.AwaitWork), one call of each. A call that is
/// answered has got nothing but the advice to poll: whoever is told too much polls in vain, and a
/// worker that is not told polls after a while all the same. So no promise depends on this class.
/// The chief's lock guards it: one thread at a time.
class WorkWaiters {
 public:
  /// Answers the call. Called once, under the chief's lock: must not block or call back.
  using Done = std::function<void()>;

  /// A call is answered after so long in any case.
  static constexpr std::chrono::seconds kLongest{10};

  /// What there may be to hear.
  struct News {
    /// Everybody is to hear of the run's end.
    bool ending = false;
    std::uint64_t membership = 0;
    /// Work ids that are with no worker and that any may have.
    std::uint64_t open = 0;
    /// Whether there are some that only that worker may have; null: of nobody.
    std::function<bool(std::uint32_t worker)> kept = nullptr;
  };

  /// Answers the worker's earlier call, if there is one. After Close: answers this one immediately.
  void Add(const AwaitWorkRequest& request, ProtocolTime now, Done done);
  /// Answers those for whom there is news: of open work those for whom some is kept, and of the
  /// others the first comers, as many as there are work ids.
  void Tell(const News& news, ProtocolTime now);
  /// Answers all. For the chief's end: nobody would answer them afterwards.
  void Close();

  bool empty() const { return waiting_.empty(); }

 private:
  struct Waiter {
    std::uint32_t worker = 0;
    std::uint64_t membership_seen = 0;
    bool want = false;
    ProtocolTime since{};
    Done done;
  };

  /// By arrival.
  std::map<std::uint64_t, Waiter> waiting_;
  /// The arrival of each worker's call.
  std::map<std::uint32_t, std::uint64_t> arrivals_;
  std::uint64_t last_arrival_ = 0;
  bool closed_ = false;
};

}  // namespace pstrain
