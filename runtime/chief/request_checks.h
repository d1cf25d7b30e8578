#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "proto/job/fixed_fields.h"
#include "runtime/cluster/limits.h"

namespace pstrain {

/// What a peer's request may name in this job.
struct JobBounds {
  std::uint32_t shards = 1;
  /// Indices of workers are below this. Workers may become more while a job runs, without the chief
  /// hearing of it: then this is the most that a job may have.
  std::uint32_t workers = kMostReplicas;
  std::uint64_t chief_term = 1;
  bool has_evaluator = false;
};

/// Bytes of the largest message of each kind that a peer of a job can send.
struct MessageBounds {
  /// Of a few numbers.
  std::uint64_t shortest = 4 << 10;
  /// A ps, with the text of what went wrong.
  std::uint64_t heartbeat = 4 << 10;
  /// What a ps says of its copies: the applied sets, one bit per batch of epochs that are not
  /// closed.
  std::uint64_t registration = 0;
  /// A worker's reports, what its calls have prepared, and what keeps it from its work.
  std::uint64_t poll = 0;
  /// The evaluator's metrics, and a digest of each field of the job.
  std::uint64_t evaluation = 0;

  std::uint64_t largest() const;
};
MessageBounds BoundsOfMessages(std::uint32_t shards, std::uint64_t epochs,
                               std::uint64_t batches_per_epoch);

/// Whether a request can come from a peer of this job, as far as the message alone tells; what was
/// granted to whom, and which attempt is the current one, the peers know (runtime/chief/peers). A
/// request that is refused here has changed nothing. Pure; any thread. OUT_OF_RANGE: an index,
/// shard or term that does not exist; RESOURCE_EXHAUSTED: more than a peer can have;
/// INVALID_ARGUMENT: a name or address that cannot be read, a prepared call that
/// says nothing.
Status CheckRequest(const RegisterPsRequest& request, const JobBounds& job);
Status CheckRequest(const HeartbeatPsRequest& request, const JobBounds& job);
Status CheckRequest(const PollWorkerRequest& request, const JobBounds& job);
Status CheckRequest(const AwaitWorkRequest& request, const JobBounds& job);
Status CheckRequest(const PollEvaluatorRequest& request, const JobBounds& job);

/// RESOURCE_EXHAUSTED: more digests, or longer paths, than a replica of any job has. Of any,
/// because one that was started with another job is told what differs, whatever else it asks for.
Status CheckShownJob(const google::protobuf::Map<std::string, std::uint32_t>& digests);

/// OK for a replica that was started with this job, or has shown that to this chief before:
/// `known`. Errors: CheckDigests.
Status CheckSameJob(const FixedDigests& shown, bool known, const FixedDigests& job);

}  // namespace pstrain
