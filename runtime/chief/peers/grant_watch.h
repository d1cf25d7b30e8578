#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Sees to it that no batch waits for ever for a worker that speaks and does not get on: it hangs,
/// or its link to a ps is cut in one direction. How long a worker has had a batch is the chief's
/// own record; what a worker says of itself only goes into messages.
///
///   since the batch was granted, the worker  | then
///   committed one, and the shards had owners |
///   1/4 of peerTimeoutSeconds, 15 s at least | another worker is granted the batch too
///   since anybody committed a batch:         | the job fails and names the pairs of a worker and a
///   peerTimeoutSeconds, 60 s at least        | ps that do not reach each other
///
/// A quarter leaves the others the rest of the time, and is still far beyond what a batch takes.
/// 5 s after a worker has begun to say so, a ps that refuses a shard which it owns by the
/// membership has to register again, and says what it has. Makes no calls. The chief's lock guards
/// it: one thread at a time.
class GrantWatch {
 public:
  /// `fail` ends the job.
  GrantWatch(const ChiefDependencies& chief, std::function<void(Status)> fail);

  /// A poll: what the worker says, and all that it has.
  void Polled(const PollWorkerRequest& request, const std::set<WorkId>& in_flight);
  void Granted(std::uint32_t worker, WorkId work_id);
  /// A report of the worker has made a batch committed.
  void Committed(std::uint32_t worker);
  void Forget(std::uint32_t worker) { workers_.erase(worker); }

  /// Looks at the clock.
  void Check();

 private:
  struct Held {
    ProtocolTime since{};
    bool overdue = false;
  };
  struct Worker {
    std::map<WorkId, Held> batches;
    ProtocolTime committed{};
    std::vector<UnreachablePs> unreachable;
    /// Since when it says of which shards that their owner refuses them.
    std::map<ShardId, std::pair<ShardTerm, ProtocolTime>> disowned;
  };

  void HearDisowned(const PollWorkerRequest& request, Worker& worker);
  void RegisterAgain(std::uint32_t worker, ShardInTerm shard);
  void ShareOverdue(std::uint32_t index, Worker& worker, ProtocolTime now);
  std::string Pairs() const;

  const ChiefDependencies chief_;
  const std::function<void(Status)> fail_;
  const std::chrono::seconds overdue_limit_;
  const std::chrono::seconds stall_limit_;
  std::map<std::uint32_t, Worker> workers_;
  /// Since when batches are with workers that could have been pushed.
  ProtocolTime able_since_;
  ProtocolTime checked_;
  ProtocolTime committed_{};  // by anybody
};

}  // namespace pstrain
