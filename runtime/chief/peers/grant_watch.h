#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Sees to it that no batch waits for ever for a worker that speaks and does not get on: it hangs,
/// or its link to a ps is cut in one direction. How long a worker has had a batch is the chief's
/// own record; what a worker says of itself only goes into messages.
///
///   since the batch was granted, the worker  | then
///   committed one, and the shards had owners |
///   its deadline (WorkSource::DeadlineOf):   |
///   1/4 of peerTimeoutSeconds, 15 s at least | another worker is granted the batch too
///   since anybody committed a batch:         | the job fails and names the pairs of a worker and a
///   peerTimeoutSeconds, 60 s at least        | ps that do not reach each other, or the
///                                            | workers that ask for no batch though some are open
///
/// Work without a deadline, as a closure of a program, is never granted to another worker too, and
/// nobody has to commit anything while a worker has some and reaches its ps: the deadline of its
/// function is the worker's matter (docs/design/hung-functions.md). The log says each minute which
/// one a worker has had for longest.
///
/// Nothing stalls while there is nothing to do, nothing may be granted, or there is no worker
/// (Ending::CheckPatience). The times above stand still then, and while a shard has no owner, the
/// chief drains, or its process was paused: a job whose shards lose their owner again and again is
/// watched in the time between.
///
/// A quarter leaves the others the rest of the time, and is still far beyond what a batch takes.
/// 5 s after a worker has begun to say so, a ps that refuses a shard which it owns by the
/// membership has to register again, and says what it has. Makes no calls. The chief's lock guards
/// it: one thread at a time.
class GrantWatch {
 public:
  /// `ps` outlives it. `fail` ends the job.
  GrantWatch(const ChiefDependencies& chief, PsPeers& ps, std::function<void(Status)> fail);

  /// A poll: what the worker says, and all that it has.
  void Polled(const PollWorkerRequest& request, const std::set<WorkId>& in_flight);
  void Granted(std::uint32_t worker, WorkId work_id);
  /// A report of the worker has made a batch committed.
  void Committed(std::uint32_t worker);
  void Forget(std::uint32_t worker) { workers_.erase(worker); }

  /// Looks at the clock. `blocked`: nothing may be granted for now, and that is nobody's fault.
  /// `calls_wait`: work without an id has not ended (ReadOnlyWork).
  void Check(bool blocked, bool calls_wait = false);

 private:
  /// How long workers have had, or could have had, batches that they could have pushed.
  using AbleTime = std::chrono::nanoseconds;

  struct InFlight {
    AbleTime since{};
    bool overdue = false;
    /// Of work without a deadline: how often the log has said that it is still there.
    int said = 0;
  };
  struct Worker {
    std::map<WorkId, InFlight> batches;
    AbleTime committed{};
    /// It asks for batches.
    bool wants = false;
    std::vector<UnreachablePs> unreachable;
    /// Since when it says of which shards that their owner refuses them.
    std::map<ShardId, std::pair<ShardTerm, ProtocolTime>> disowned;
  };

  AbleTime AbleNow() const;
  /// Keeps of ps that are members what a person reads of it.
  void HearUnreachable(const PollWorkerRequest& request, Worker& worker) const;
  void HearDisowned(const PollWorkerRequest& request, Worker& worker);
  void RegisterAgain(std::uint32_t worker, ShardInTerm shard);
  /// True: the worker has work that may take as long as it likes, and reaches its ps.
  bool ShareOverdue(std::uint32_t index, Worker& worker);
  /// Says how long the worker has had its oldest work without a deadline.
  void SayWhatTakesLong(std::uint32_t index, Worker& worker) const;
  static void LogOverdue(std::uint32_t index, const Worker& worker, std::size_t count,
                         AbleTime oldest);
  /// Nobody has to get on: no batch is with a worker, and none has to be.
  bool Idle(bool blocked) const;
  void WarnIfNobodyAsks(std::chrono::nanoseconds stalled);
  std::string WhoStalls() const;
  std::string WhyStalled(std::uint32_t index, const Worker& worker) const;

  const ChiefDependencies chief_;
  PsPeers& ps_;
  const std::function<void(Status)> fail_;
  /// Of work whose source has no other.
  const std::chrono::seconds overdue_limit_;
  const std::chrono::seconds stall_limit_;
  std::map<std::uint32_t, Worker> workers_;
  /// Up to the last Check.
  AbleTime able_{0};
  /// Since when somebody had to commit something: the last commit by anybody, and later by the time
  /// for which work without a deadline was with a worker since.
  AbleTime stalled_since_{0};
  /// The log says that batches are open and nobody has one.
  bool unasked_ = false;
  ProtocolTime checked_;
};

}  // namespace pstrain
