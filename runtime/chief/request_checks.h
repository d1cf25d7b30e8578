#pragma once

#include <cstdint>

#include "base/status.h"
#include "proto/contract/control.pb.h"
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

/// The largest message that a peer of this job can send: what a ps says of its copies (the applied
/// sets, one bit per batch of epochs that are not closed), or a worker's reports.
std::uint64_t MostMessageBytes(std::uint32_t shards, std::uint64_t epochs,
                               std::uint64_t batches_per_epoch);

/// Whether a request can come from a peer of this job, as far as the message alone tells; what was
/// granted to whom, and which attempt is the current one, the peers know (runtime/chief/peers). A
/// request that is refused here has changed nothing. Pure; any thread. OUT_OF_RANGE: an index,
/// shard or term that does not exist; RESOURCE_EXHAUSTED: more than a peer can have;
/// INVALID_ARGUMENT: a name or address that cannot be read.
Status CheckRequest(const RegisterPsRequest& request, const JobBounds& job);
Status CheckRequest(const PollWorkerRequest& request, const JobBounds& job);
Status CheckRequest(const PollEvaluatorRequest& request, const JobBounds& job);

}  // namespace pstrain
