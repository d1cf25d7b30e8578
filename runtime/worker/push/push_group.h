#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/requests.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {

/// Lets pushes of small work that several threads make at the same time share messages. Who comes
/// while nobody pushes does so immediately, alone. Who comes meanwhile waits; then one of those
/// that wait pushes for all of them, in the order in which they came. Nobody waits for others to
/// come. Large work does not take part: it is pushed beside the others.
///
/// Owner: who pushes. Any thread; calls block for three deadlines of the client at most: of the
/// push before, of the one that is shared, and of one alone where that is refused.
class PushGroup {
 public:
  /// Of one push that is shared. Work of more bytes is large.
  struct Limits {
    std::size_t works = kMostWorksInMessage;
    std::size_t bytes = PsClient::kMessageBytes;
  };

  /// `ps` outlives it.
  explicit PushGroup(PsClient& ps) : PushGroup(ps, Limits{}) {}
  PushGroup(PsClient& ps, const Limits& limits) : ps_(ps), limits_(limits) {}

  /// As PsClient::Push of this work alone: INVALID_ARGUMENT of one is no other's. Those who name
  /// the same object as membership share messages.
  Result<PushOutcome> Push(const WorkToPush& work, const Membership& membership)
      PSTRAIN_EXCLUDES(mutex_);

  /// How many works wait or are being pushed, large ones aside. For tests.
  std::size_t in_flight() const PSTRAIN_EXCLUDES(mutex_);

 private:
  /// Work of a thread that is in Push.
  struct Waiting {
    const WorkToPush& work;
    const Membership& membership;
    std::size_t bytes = 0;
    /// Nobody else touches it from then on.
    bool done = false;
    /// Where it is done: what it has come to, or nothing: it is to be pushed alone.
    Result<std::vector<PushOutcome>> outcome = std::vector<PushOutcome>();
  };
  using Group = std::vector<Waiting*>;

  Result<PushOutcome> PushAlone(const WorkToPush& work, const Membership& membership);
  /// Those that the caller is to push for; waits. Empty: `mine` is done.
  Group NextGroup(const Waiting& mine) PSTRAIN_EXCLUDES(mutex_);
  /// The first that wait, and can share a push. REQUIRES: somebody waits.
  Group TakeFirst() PSTRAIN_REQUIRES(mutex_);
  /// Pushes, and tells each what its work has come to.
  void PushFor(const Group& group) PSTRAIN_EXCLUDES(mutex_);

  PsClient& ps_;
  const Limits limits_;
  mutable Mutex mutex_;
  CondVar changed_;
  /// The works of the push that is under way; 0: nobody pushes.
  std::size_t pushing_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::deque<Waiting*> waiting_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
