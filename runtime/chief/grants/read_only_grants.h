#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/peers/grant_watch.h"
#include "runtime/chief/peers/granted_work.h"
#include "runtime/chief/peers/work_waiters.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The part of WorkerPeers that is about work without an id (ReadOnlyWork); where the job has none,
/// it does nothing. The chief's lock guards it: one thread at a time.
class ReadOnlyGrants {
 public:
  explicit ReadOnlyGrants(const ChiefDependencies& chief) : chief_(chief) {}

  /// Under which chief term the work is granted and reported: as CommitProtocol::GrantTerm, and an
  /// attempt of work without an id is void once there is another chief, too.
  std::uint64_t TermOf(WorkId work_id) const;
  /// How many of `want` are asked of this first, so that neither kind of work waits for all of the
  /// other.
  std::size_t ShareOf(std::size_t want) const;
  /// Adds at most so many grants for the worker, and remembers them in `granted`.
  void Add(std::uint32_t worker, std::size_t most, GrantedWork* granted,
           PollWorkerReply* reply) const;
  /// False: it is of a work id. REQUIRES: it was granted.
  bool Absorb(std::uint32_t worker, const Report& report, GrantedWork* granted,
              GrantWatch* watch) const;
  /// Of what was granted; work ids among them do not count.
  void Return(const std::vector<WorkId>& returned) const;
  /// A process of the worker has come; what its former one had is open again.
  void Begin(std::uint32_t worker) const;
  void SetRegistered(std::uint32_t worker, bool registered) const;
  /// What workers that wait may have, of both kinds.
  void Tell(WorkWaiters::News* news) const;
  bool done() const;

 private:
  bool MayGrant() const;

  const ChiefDependencies chief_;
};

}  // namespace pstrain
