#include "tests/runtime/simulation/mutated_messages.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "runtime/requests/requests.h"
#include "runtime/requests/work_kind.h"
#include "runtime/wire/data_op.h"
#include "runtime/wire/data_plane.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {

Mutations& ActiveMutations() {
  static Mutations mutations;
  return mutations;
}

ObservedMessages& Observed() {
  static ObservedMessages observed;
  return observed;
}

Nature& NatureOfJob() {
  static Nature nature;
  return nature;
}

namespace {

/// By the key of its calls to one life of a ps: which chief it is.
std::map<std::uint64_t, std::uint64_t> chief_of_key;
/// By ps, a process, and chief term: the chief that it serves.
std::map<std::pair<Process, std::uint64_t>, std::uint64_t> served;

}  // namespace

// Before it is sent: the chief knows of the variables by then.
void Observe(const ConfigureRequest& request) {
  Observed().generation = std::max(Observed().generation, request.run().generation());
  chief_of_key[request.call_key()] = request.chief_id();
}

void ObserveAnswered(const ConfigureRequest& request, const ConfigureReply&) {
  std::uint32_t& known = Observed().generation_of[request.incarnation()];
  known = std::max(known, request.run().generation());
  const std::uint64_t chief = chief_of_key[request.call_key()];
  const Process ps = Scheduler::OfCaller()->process();
  if (served.try_emplace({ps, request.chief_term()}, chief).first->second == chief) return;
  Observed().on_violation("a ps serves two chiefs of term " + std::to_string(request.chief_term()));
}

void Observe(const ReleaseRequest& request) {
  if (request.finished()) Observed().on_finish("a ps");
}

void ObserveAnswered(const RegisterPsRequest& request, const RegisterPsReply& reply) {
  if (reply.directive() == FINISH) Observed().on_finish("ps " + std::to_string(request.index()));
}

// Rule 13: nothing is granted before every ps knows of the variables.
void ObserveAnswered(const PollWorkerRequest& request, const PollWorkerReply& reply) {
  for (const auto& [incarnation, generation] : Observed().generation_of) {
    if (reply.grants().empty() || generation >= Observed().generation) continue;
    if (!Observed().news_are_checked) continue;
    Observed().on_violation("granted before a ps knows of new variables");
  }
  if (reply.directive() != FINISH) return;
  Observed().on_finish("worker " + std::to_string(request.index()));
}

// One that was replaced has no claim to a checkpoint any more.
void ObserveAnswered(const PollEvaluatorRequest& request, const PollEvaluatorReply& reply) {
  if (reply.directive() == FINISH) Observed().on_finish("the evaluator");
  if (request.checkpoint().empty() || reply.directive() == REPLACED) return;
  if (request.error().empty()) ++Observed().evaluations;
  const bool gone =
      request.error().starts_with("NOT_FOUND") || request.error().starts_with("DATA_LOSS");
  if (gone) Observed().missing_checkpoint = request.error();
}

void Mutate(HeartbeatPsReply& reply) {
  if (ActiveMutations().lost_ps_are_known) reply.set_known(true);
}

void Mutate(HeartbeatPsRequest& request) {
  if (ActiveMutations().non_finite_is_not_told) request.clear_failure();
}

void Mutate(ConfigureRequest& request) {
  if (ActiveMutations().ps_ignore_chief_ids) request.set_chief_id(1);
}

void Mutate(PollWorkerReply& reply) {
  if (NatureOfJob().grants_name_their_chief) {
    for (Grant& grant : *reply.mutable_grants()) grant.set_chief_term(reply.chief_term());
  }
  for (Grant& grant : *reply.mutable_grants()) {
    if (ActiveMutations().repairs_are_left_out && grant.kind() == kRepairWork)
      grant.set_kind(kClosureWork);
    if (ActiveMutations().lost_calls_are_voided && grant.kind() == kLostWork)
      grant.set_kind(kVoidWork);
  }
  if (ActiveMutations().prepared_is_not_told) {
    for (Grant& grant : *reply.mutable_grants()) grant.clear_prepared();
    reply.clear_prepared();
  }
  if (ActiveMutations().finish_is_told_early && reply.directive() == WAIT) {
    reply.set_directive(FINISH);
  }
  if (ActiveMutations().late_polls_count) reply.set_sequence(reply.sequence() % (1 << 20));
  if (!ActiveMutations().memberships_are_not_told || reply.has_run()) return;
  // The first one, with which the worker begins, is told.
  static bool told = false;
  if (reply.has_membership() && std::exchange(told, true)) reply.clear_membership();
}

void Observe(const AssignShardsRequest& request) {
  const bool restores = std::ranges::any_of(request.shards(), [](const auto& shard) {
    return shard.source() == WireShardAssignment::RESTORE;
  });
  Observed().restores += restores ? 1 : 0;
  for (const WireShardAssignment& shard : request.shards()) {
    const bool restored = shard.source() == WireShardAssignment::RESTORE;
    if (!restored && shard.source() != WireShardAssignment::INITIAL) continue;
    Observed().on_restore(restored ? request.checkpoint() : "", request.chief_term());
  }
}

void ObserveAnswered(const WriteCheckpointShardsRequest& request,
                     const WriteCheckpointShardsReply& reply) {
  // A mark's is whole as the last one is, in the middle of the run.
  if (!request.final() || NatureOfJob().marks) return;
  for (const WireShardCopy& copy : reply.copies()) {
    if (copy.examples_applied() == Observed().examples_expected) continue;
    Observed().incomplete_final = "shard " + std::to_string(copy.shard()) + " has " +
                                  std::to_string(copy.examples_applied()) + " examples of " +
                                  std::to_string(Observed().examples_expected);
  }
}

void Mutate(RegisterPsRequest& request) {
  if (ActiveMutations().attempts_are_not_told) request.clear_attempt();
}

// The chief's numbers of polls only grow; the worker's own come back to it.
void Mutate(PollWorkerRequest& request) {
  if (ActiveMutations().attempts_are_not_told) request.clear_attempt();
  if (ActiveMutations().workers_ignore_chief_ids) request.clear_chief_id_seen();
  // To the chief they are batches all the same.
  if (NatureOfJob().grants_name_their_chief) {
    for (Report& report : *request.mutable_reports()) report.clear_chief_term();
  }
  if (!ActiveMutations().late_polls_count) return;
  constexpr std::uint64_t kScale = 1 << 20;
  static std::uint64_t count = 0;
  request.set_sequence(++count * kScale + request.sequence());
}

// Room for one of ours after each of the evaluator's.
void Mutate(PollEvaluatorRequest& request) {
  if (ActiveMutations().attempts_are_not_told) request.clear_attempt();
  if (ActiveMutations().pins_are_ignored) request.set_sequence(2 * request.sequence());
}

// An evaluator that leaves reads nothing any more.
bool Again(PollEvaluatorRequest& request) {
  request.set_leaving(true);
  request.set_sequence(request.sequence() + 1);
  return ActiveMutations().pins_are_ignored;
}

Result<Bytes> MutatedData(std::uint16_t op, const Bytes& request, const Status& status) {
  if (!ActiveMutations().failed_pushes_are_reported ||
      op != static_cast<std::uint16_t>(DataOp::kPush)) {
    return status;
  }
  const Result<PushMessage> push = ParsePushRequest(request.span());
  if (!push.ok()) return status;
  PushReply reply;
  for (const PushRequest& work : push->works) {
    reply.statuses.resize(reply.statuses.size() + work.sections.size(), PushStatus::kApplied);
  }
  WireBuffer encoded = EncodePushReply(reply);
  auto owner = std::make_shared<const WireBuffer>(std::move(encoded));
  const auto bytes = owner->bytes();
  return Bytes(std::move(owner), bytes);
}

}  // namespace pstrain::simulation
