#include "runtime/chief/request_checks.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/address.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

/// Metrics of one evaluation.
constexpr int kMostMetrics = 64;

/// Why the job cannot succeed, or what went wrong.
Status CheckText(const std::string& who, const char* what, const std::string& text) {
  if (text.size() <= kMostTextBytes) return OkStatus();
  return ResourceExhaustedError(who + " gives " + what + " of " + std::to_string(text.size()) +
                                " bytes");
}

Status TooMany(const std::string& who, const char* what, int count, std::uint32_t most) {
  if (count <= static_cast<std::int64_t>(most)) return OkStatus();
  return ResourceExhaustedError(who + " names " + std::to_string(count) + " " + what +
                                ", more than the " + std::to_string(most) + " that it can have");
}

Status CheckShard(const std::string& who, std::uint32_t shard, const WireShardTerm& term,
                  const JobBounds& job) {
  if (shard >= job.shards) {
    return OutOfRangeError(who + " names shard " + std::to_string(shard) + " of " +
                           std::to_string(job.shards));
  }
  if (term.chief_term() <= job.chief_term) return OkStatus();
  return OutOfRangeError(who + " names a term of chief term " + std::to_string(term.chief_term()) +
                         ", and this is " + std::to_string(job.chief_term));
}

std::string NameOfPs(std::uint32_t index) { return "ps " + std::to_string(index); }

/// The number of ps may change; one that brings copies is admitted beyond it (CommitProtocol).
Status CheckPs(std::uint32_t index) {
  if (index < kMostReplicas) return OkStatus();
  return OutOfRangeError(NameOfPs(index) + ": a job has at most " + std::to_string(kMostReplicas));
}

std::string NameOfWorker(std::uint32_t index) { return "worker " + std::to_string(index); }

Status CheckWorker(std::uint32_t index, const JobBounds& job) {
  if (index < job.workers) return OkStatus();
  return OutOfRangeError(NameOfWorker(index) + ": the job has at most " +
                         std::to_string(job.workers));
}

/// The membership's own number only the chief knows (WorkerPeers).
Status CheckReport(const Report& report, const JobBounds& job) {
  PSTRAIN_RETURN_IF_ERROR(CheckShardSet(report.shards(), job.shards));
  PSTRAIN_RETURN_IF_ERROR(CheckShardSet(report.early(), job.shards).WithContext("early"));
  PSTRAIN_RETURN_IF_ERROR(CheckText("it", "an error", report.error().message()));
  if (report.result().size() > kMostResultBytes) {
    return ResourceExhaustedError("a result of " + std::to_string(report.result().size()) +
                                  " bytes, of which at most " + std::to_string(kMostResultBytes) +
                                  " can be reported");
  }
  const std::uint64_t chief_term = report.membership() >> 32;
  if (chief_term <= job.chief_term) return OkStatus();
  return OutOfRangeError("a membership of chief term " + std::to_string(chief_term) +
                         ", and this is " + std::to_string(job.chief_term));
}

Status CheckPrepared(const PollWorkerRequest& request) {
  PSTRAIN_RETURN_IF_ERROR(TooMany("it", "prepared calls", request.prepared_size(), kMostInFlight));
  for (const PreparedCall& call : request.prepared()) {
    if (call.outcome().empty()) return InvalidArgumentError("a prepared call that says nothing");
    if (call.outcome().size() <= kMostPreparedBytes) continue;
    return ResourceExhaustedError("a prepared call of " + std::to_string(call.outcome().size()) +
                                  " bytes, of which at most " + std::to_string(kMostPreparedBytes) +
                                  " are kept");
  }
  return OkStatus();
}

/// What a worker says that keeps it from its work.
Status CheckProblems(const std::string& who, const PollWorkerRequest& request,
                     const JobBounds& job) {
  PSTRAIN_RETURN_IF_ERROR(CheckText(who, "a failure", request.failure()));
  PSTRAIN_RETURN_IF_ERROR(
      TooMany(who, "ps that do not answer", request.unreachable_size(), kMostReplicas));
  for (const UnreachablePs& ps : request.unreachable()) {
    PSTRAIN_RETURN_IF_ERROR(CheckPs(ps.ps()).WithContext(who));
    PSTRAIN_RETURN_IF_ERROR(CheckText(who, "an error", ps.error()));
  }
  PSTRAIN_RETURN_IF_ERROR(
      TooMany(who, "shards that are refused", request.disowned_size(), job.shards));
  for (const WireShardInTerm& shard : request.disowned()) {
    PSTRAIN_RETURN_IF_ERROR(CheckShard(who, shard.shard(), shard.term(), job));
  }
  return OkStatus();
}

Status CheckName(const std::string& name, const char* what) {
  if (name.empty() || ParseCheckpointName(name)) return OkStatus();
  return InvalidArgumentError(std::string("the evaluator names a ") + what +
                              " checkpoint with a malformed name; a name is <chief term>-<number>");
}

}  // namespace

std::uint64_t MessageBounds::largest() const {
  return std::max({shortest, heartbeat, registration, poll, evaluation});
}

MessageBounds BoundsOfMessages(std::uint32_t shards, std::uint64_t epochs,
                               std::uint64_t batches_per_epoch) {
  // Static: std::min refers to them.
  static constexpr std::uint64_t kLeast = 4 << 20;
  static constexpr std::uint64_t kMost = 1 << 30;
  constexpr std::uint64_t kIds = 64;  // of a shard, its term and what frames them
  const auto with_shards = [shards](std::uint64_t bytes_of_each) {
    return std::min(kLeast + shards * bytes_of_each, kMost);
  };
  MessageBounds bounds;
  bounds.heartbeat += kMostTextBytes;
  bounds.registration = with_shards(kIds + epochs * (batches_per_epoch / 8 + kIds));
  bounds.poll = with_shards(kMostInFlight * kIds);
  bounds.evaluation = kLeast;
  return bounds;
}

Status CheckRequest(const RegisterPsRequest& request, const JobBounds& job) {
  const std::string who = NameOfPs(request.index());
  PSTRAIN_RETURN_IF_ERROR(CheckPs(request.index()));
  if (request.address().size() > kMostNameBytes || !SplitAddress(request.address()).ok()) {
    return InvalidArgumentError(who + " gives an address that is not host:port");
  }
  if (request.data_address().size() > kMostNameBytes) {
    return InvalidArgumentError(who + " gives a data address of " +
                                std::to_string(request.data_address().size()) + " bytes; at most " +
                                std::to_string(kMostNameBytes));
  }
  if (!request.data_address().empty()) {
    PSTRAIN_RETURN_IF_ERROR(
        CheckTransportAddress(request.data_address()).WithContext(who + "'s data plane"));
  }
  PSTRAIN_RETURN_IF_ERROR(TooMany(who, "copies", request.copies_size(), job.shards));
  for (const WireShardCopy& copy : request.copies()) {
    PSTRAIN_RETURN_IF_ERROR(CheckShard(who, copy.shard(), copy.term(), job));
  }
  return OkStatus();
}

Status CheckRequest(const HeartbeatPsRequest& request, const JobBounds& /*job*/) {
  PSTRAIN_RETURN_IF_ERROR(CheckPs(request.index()));
  return CheckText(NameOfPs(request.index()), "a failure", request.failure());
}

Status CheckRequest(const PollWorkerRequest& request, const JobBounds& job) {
  const std::string who = NameOfWorker(request.index());
  PSTRAIN_RETURN_IF_ERROR(CheckWorker(request.index(), job));
  PSTRAIN_RETURN_IF_ERROR(TooMany(who, "reports", request.reports_size(), kMostInFlight));
  PSTRAIN_RETURN_IF_ERROR(
      TooMany(who, "batches in flight", request.in_flight_size(), kMostInFlight));
  for (const Report& report : request.reports()) {
    PSTRAIN_RETURN_IF_ERROR(CheckReport(report, job).WithContext(who + "'s report"));
  }
  PSTRAIN_RETURN_IF_ERROR(CheckPrepared(request).WithContext(who));
  return CheckProblems(who, request, job);
}

Status CheckRequest(const AwaitWorkRequest& request, const JobBounds& job) {
  return CheckWorker(request.index(), job);
}

Status CheckRequest(const PollEvaluatorRequest& request, const JobBounds& job) {
  const std::string who = "the evaluator";
  if (!job.has_evaluator) return OutOfRangeError("the job has no evaluator");
  PSTRAIN_RETURN_IF_ERROR(CheckName(request.checkpoint(), "evaluated"));
  PSTRAIN_RETURN_IF_ERROR(CheckName(request.pinned(), "pinned"));
  PSTRAIN_RETURN_IF_ERROR(TooMany(who, "metrics", request.metrics_size(), kMostMetrics));
  for (const auto& [name, value] : request.metrics()) {
    if (name.size() > kMostNameBytes) {
      return ResourceExhaustedError(who + " gives a metric whose name has " +
                                    std::to_string(name.size()) + " bytes");
    }
  }
  PSTRAIN_RETURN_IF_ERROR(CheckText(who, "a failure", request.failure()));
  return CheckText(who, "an error", request.error());
}

Status CheckShownJob(const google::protobuf::Map<std::string, std::uint32_t>& digests) {
  const std::string who = "a replica";
  if (digests.size() > kMostDigests) {
    return ResourceExhaustedError(who + " shows " + std::to_string(digests.size()) +
                                  " digests of its job; a job has at most " +
                                  std::to_string(kMostDigests));
  }
  for (const auto& [path, digest] : digests) {
    if (path.size() <= kMostNameBytes) continue;
    return ResourceExhaustedError(who + " shows a digest of a field whose path has " +
                                  std::to_string(path.size()) + " bytes");
  }
  return OkStatus();
}

Status CheckSameJob(const FixedDigests& shown, bool known, const FixedDigests& job) {
  if (!shown.empty()) return CheckDigests(job, shown);
  if (known) return OkStatus();
  return FailedPreconditionError(
      "it does not say with which job; start all replicas from one version of the runtime");
}

}  // namespace pstrain
