#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/peers/peer_failures.h"
#include "runtime/chief/request_checks.h"
#include "runtime/cluster/limits.h"
#include "runtime/rpc/control_shards.h"
#include "tests/fuzz/checked_frame.h"

namespace {

using namespace pstrain;

constexpr JobBounds kJob{.shards = 4, .workers = 2, .chief_term = 3, .has_evaluator = true};

void Require(bool holds) {
  if (!holds) std::abort();
}

/// What was read is written in a form that reads as itself.
void CheckCopies(const google::protobuf::RepeatedPtrField<WireShardCopy>& wire) {
  const auto copies = AllFromWire<ShardCopy>(wire);
  if (!copies.ok()) return;
  for (const ShardCopy& copy : *copies) {
    WireShardCopy written;
    ToWire(copy, &written);
    const auto again = FromWire(written);
    Require(again.ok() && again->term == copy.term && again->applied == copy.applied &&
            again->left_out == copy.left_out);
  }
}

void Check(const RegisterPsRequest& request) {
  CheckCopies(request.copies());
  if (!CheckRequest(request, kJob).ok()) return;
  Require(request.index() < kMostReplicas && request.copies_size() <= 4);
  for (const WireShardCopy& copy : request.copies()) Require(copy.shard() < kJob.shards);
  if (CheckShownJob(request.job()).ok()) Require(request.job_size() <= int{kMostDigests});
}

void Check(const HeartbeatPsRequest& request) {
  if (!CheckRequest(request, kJob).ok()) return;
  Require(FailureOf(request).ok() == request.failure().empty());
  Require(request.failure().size() <= kMostTextBytes);
}

void Check(const PollWorkerRequest& request) {
  if (!CheckRequest(request, kJob).ok()) return;
  Require(request.index() < kJob.workers);
  for (const PreparedCall& call : request.prepared()) {
    Require(!call.outcome().empty() && call.outcome().size() <= kMostPreparedBytes);
  }
  for (const Report& report : request.reports()) {
    for (const WireShardSet& wire : {report.shards(), report.early()}) {
      const ShardSet set = FromWire(wire, kJob.shards);
      Require(set.count() == wire.count() && set.words().size() == 1);
      WireShardSet written;
      ToWire(set, &written);
      Require(CheckShardSet(written, kJob.shards).ok() && FromWire(written, kJob.shards) == set);
    }
  }
  Require(FailureOf(request).ok() == request.failure().empty());
}

void Check(const AwaitWorkRequest& request) {
  if (CheckRequest(request, kJob).ok()) Require(request.index() < kJob.workers);
}

void Check(const PollEvaluatorRequest& request) {
  if (!CheckRequest(request, kJob).ok()) return;
  for (const std::string& name : {request.checkpoint(), request.pinned()}) {
    Require(name.empty() || ParseCheckpointName(name).has_value());
  }
  static_cast<void>(FailureOf(request));
}

void Check(const AssignShardsRequest& request) {
  const auto assignments = AllFromWire<ShardAssignment>(request.shards());
  if (!assignments.ok()) return;
  for (const ShardAssignment& assignment : *assignments) {
    WireShardAssignment written;
    ToWire(assignment, &written);
    const auto again = FromWire(written);
    Require(again.ok() && again->source == assignment.source && again->from == assignment.from);
  }
}

void Check(const AssignShardsReply& reply) { CheckCopies(reply.shards()); }
void Check(const WriteCheckpointShardsReply& reply) { CheckCopies(reply.copies()); }

template <typename Message>
void Read(const std::string& bytes) {
  Message message;
  if (message.ParseFromString(bytes)) Check(message);
}

}  // namespace

/// The messages of the control plane, as the chief and a ps check and read them. The first byte
/// says which one it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  SilenceProtobuf();
  if (size == 0) return 0;
  constexpr void (*kMessages[])(const std::string&) = {
      Read<RegisterPsRequest>, Read<HeartbeatPsRequest>,        Read<PollWorkerRequest>,
      Read<AwaitWorkRequest>,  Read<PollEvaluatorRequest>,      Read<AssignShardsRequest>,
      Read<AssignShardsReply>, Read<WriteCheckpointShardsReply>};
  kMessages[data[0] % std::size(kMessages)](
      std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
