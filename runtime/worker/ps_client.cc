#include "runtime/worker/ps_client.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "runtime/ps/data_plane.h"

namespace pstrain {
namespace {

Term TermOf(const ShardOwner& owner) { return {owner.term().epoch(), owner.term().counter()}; }

Bytes ToBytes(WireBuffer buffer) {
  auto owner = std::make_shared<const WireBuffer>(std::move(buffer));
  const auto bytes = owner->bytes();
  return {std::move(owner), bytes};
}

/// Counts replies down. Lives until the last callback has run.
struct ReplyBoard {
  Mutex mutex;
  CondVar done;
  std::vector<std::optional<Result<Bytes>>> replies PSTRAIN_GUARDED_BY(mutex);
  std::size_t missing PSTRAIN_GUARDED_BY(mutex) = 0;
};

/// The rows' gradients of one shard, one after the other.
std::vector<float> GatherRows(const RoutedRows& rows, const std::vector<float>& values,
                              std::size_t dimension) {
  std::vector<float> gathered(rows.keys.size() * dimension);
  for (std::size_t i = 0; i < rows.places.size(); ++i) {
    std::memcpy(&gathered[i * dimension], &values[rows.places[i] * dimension],
                dimension * sizeof(float));
  }
  return gathered;
}

/// Copies a reply section's values to their places.
Status Scatter(const PullReplySection& section, const std::vector<ParameterLayout::Slice>& slices,
               const std::vector<RoutedRows>& rows, const BatchPlan& plan,
               const ParameterLayout& layout, Parameters& to) {
  std::size_t expected = 0;
  for (const auto& slice : slices) expected += slice.count;
  for (const auto& routed : rows) {
    expected += routed.keys.size() * layout.dimension(plan.requests[routed.request].variable);
  }
  if (section.values.size() != expected) {
    return InternalError("shard " + std::to_string(section.shard) + " answered " +
                         std::to_string(section.values.size()) + " values instead of " +
                         std::to_string(expected));
  }
  const float* from = section.values.data();
  for (const auto& slice : slices) {
    std::memcpy(&to.dense[slice.variable][slice.first], from, slice.count * sizeof(float));
    from += slice.count;
  }
  for (const auto& routed : rows) {
    const std::size_t dimension = layout.dimension(plan.requests[routed.request].variable);
    for (const std::size_t place : routed.places) {
      std::memcpy(&to.rows[routed.request][place * dimension], from, dimension * sizeof(float));
      from += dimension;
    }
  }
  return OkStatus();
}

Status CheckMembership(const Membership& membership, std::uint32_t shards) {
  if (membership.shards_size() == static_cast<int>(shards)) return OkStatus();
  return AbortedError("membership " + std::to_string(membership.number()) +
                      " does not name every shard");
}

PullSection MakePullSection(ShardId shard, Term term,
                            const std::vector<ParameterLayout::Slice>& slices,
                            const std::vector<RoutedRows>& rows, const BatchPlan& plan) {
  PullSection section{shard, term, {}, {}};
  for (const auto& slice : slices) section.dense.push_back({slice.variable, slice.partition});
  for (const auto& routed : rows) {
    section.tables.push_back({plan.requests[routed.request].variable, routed.keys});
  }
  return section;
}

/// Fills the outcomes of one ps from its reply.
Status ReadPushReply(const Result<Bytes>& bytes, const std::vector<std::size_t>& asked,
                     std::vector<ShardPush>& outcomes) {
  const auto set_all = [&](ShardOutcome outcome) {
    for (const std::size_t i : asked) outcomes[i].outcome = outcome;
    return OkStatus();
  };
  const StatusCode code = bytes.status().code();
  if (code == StatusCode::kInvalidArgument) return bytes.status();
  // A ps that was just started does not know the variables yet.
  if (code == StatusCode::kFailedPrecondition) return set_all(ShardOutcome::kNotOwner);
  if (code != StatusCode::kOk) return set_all(ShardOutcome::kUnreachable);
  PSTRAIN_ASSIGN_OR_RETURN(const PushReply reply, ParsePushReply(bytes->span()));
  if (reply.sections.size() != asked.size()) return InternalError("push reply of another request");
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ShardPush& push = outcomes[asked[i]];
    if (reply.sections[i].shard != push.shard) return InternalError("push reply out of order");
    switch (reply.sections[i].status) {
      case PushStatus::kApplied:
        push.outcome = ShardOutcome::kApplied;
        break;
      case PushStatus::kDuplicate:
        push.outcome = ShardOutcome::kDuplicate;
        break;
      case PushStatus::kNotOwner:
        push.outcome = ShardOutcome::kNotOwner;
        break;
    }
  }
  return OkStatus();
}

Status PullError(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kCancelled:
      return status;
    case StatusCode::kFailedPrecondition:
      return AbortedError(status.message());
    default:
      return UnavailableError(status.ToString());
  }
}

}  // namespace

std::vector<ShardId> PushOutcome::Missing() const {
  std::vector<ShardId> missing;
  for (const ShardPush& push : shards) {
    if (push.outcome == ShardOutcome::kNotOwner || push.outcome == ShardOutcome::kUnreachable) {
      missing.push_back(push.shard);
    }
  }
  return missing;
}

Result<std::unique_ptr<PsClient>> PsClient::Create(const std::vector<VariableSpec>& variables,
                                                   std::uint32_t shards,
                                                   TransportFactory& transports,
                                                   PsClientOptions options) {
  PSTRAIN_ASSIGN_OR_RETURN(ParameterLayout layout, ParameterLayout::Create(variables, shards));
  return std::unique_ptr<PsClient>(new PsClient(std::move(layout), transports, options));
}

PsClient::PsClient(ParameterLayout layout, TransportFactory& transports, PsClientOptions options)
    : layout_(std::move(layout)), transports_(transports), options_(options) {}

Result<Parameters> PsClient::Pull(const BatchPlan& plan, const Membership& membership) {
  PSTRAIN_RETURN_IF_ERROR(CheckMembership(membership, layout_.shards()));
  PSTRAIN_ASSIGN_OR_RETURN(const auto routed, layout_.Route(plan));
  std::map<std::uint32_t, PullRequest> requests;
  for (ShardId shard = 0; shard < layout_.shards(); ++shard) {
    if (layout_.slices(shard).empty() && routed[shard].empty()) continue;
    const ShardOwner& owner = membership.shards(static_cast<int>(shard));
    if (!owner.active()) return AbortedError("shard " + std::to_string(shard) + " has no owner");
    requests[owner.ps()].sections.push_back(
        MakePullSection(shard, TermOf(owner), layout_.slices(shard), routed[shard], plan));
  }
  std::vector<Outgoing> messages;
  for (const auto& [ps, request] : requests) {
    messages.push_back({ps, ToBytes(EncodePullRequest(request))});
  }
  const auto replies = FanOut(DataOp::kPull, messages, membership);
  Parameters values = layout_.Allocate(plan);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const std::string who = "pull from ps " + std::to_string(messages[i].ps);
    if (!replies[i].ok()) return PullError(replies[i].status()).WithContext(who);
    PSTRAIN_ASSIGN_OR_RETURN(const PullReply reply, ParsePullReply(replies[i]->span()));
    const auto& asked = requests[messages[i].ps].sections;
    if (reply.sections.size() != asked.size()) return InternalError(who + ": another request's");
    for (std::size_t s = 0; s < asked.size(); ++s) {
      const PullReplySection& section = reply.sections[s];
      const ShardId shard = asked[s].shard;
      if (section.shard != shard) return InternalError(who + ": out of order");
      if (section.status != PullStatus::kOk) {
        return AbortedError(who + ": it does not own shard " + std::to_string(shard));
      }
      PSTRAIN_RETURN_IF_ERROR(
          Scatter(section, layout_.slices(shard), routed[shard], plan, layout_, values));
    }
  }
  for (const RowRequest& request : plan.requests) stats_.rows_pulled += request.rows.size();
  return values;
}

Result<PushOutcome> PsClient::Push(const PushedBatch& batch, const BatchPlan& plan,
                                   const Parameters& gradients, const Membership& membership,
                                   std::span<const ShardId> shards) {
  PSTRAIN_RETURN_IF_ERROR(CheckMembership(membership, layout_.shards()));
  PSTRAIN_ASSIGN_OR_RETURN(const auto routed, layout_.Route(plan));
  PSTRAIN_RETURN_IF_ERROR(layout_.CheckGradients(plan, gradients));
  struct ToPs {
    PushRequest request;
    std::vector<std::size_t> asked;  // places in PushOutcome::shards
  };
  PushOutcome outcome;
  std::map<std::uint32_t, ToPs> requests;
  std::deque<std::vector<float>> gathered;  // what the sections refer to
  std::uint64_t rows = 0;
  const std::size_t count = shards.empty() ? layout_.shards() : shards.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ShardId shard = shards.empty() ? static_cast<ShardId>(i) : shards[i];
    if (shard >= layout_.shards()) return InvalidArgumentError("no such shard");
    const ShardOwner& owner = membership.shards(static_cast<int>(shard));
    outcome.shards.push_back({shard, TermOf(owner), ShardOutcome::kNotOwner});
    if (!owner.active()) continue;
    ToPs& to = requests[owner.ps()];
    PushSection section{shard, TermOf(owner), {}, {}};
    for (const auto& slice : layout_.slices(shard)) {
      const auto& values = gradients.dense[slice.variable];
      if (values.empty()) continue;
      section.dense.push_back(
          {slice.variable, slice.partition, std::span(values).subspan(slice.first, slice.count)});
    }
    for (const RoutedRows& of_shard : routed[shard]) {
      const VariableId variable = plan.requests[of_shard.request].variable;
      gathered.push_back(
          GatherRows(of_shard, gradients.rows[of_shard.request], layout_.dimension(variable)));
      section.tables.push_back({variable, of_shard.keys, gathered.back()});
      rows += of_shard.keys.size();
    }
    to.request.sections.push_back(std::move(section));
    to.asked.push_back(i);
  }
  std::vector<Outgoing> messages;
  for (auto& [ps, to] : requests) {
    to.request.token = batch.token;
    to.request.records = batch.records;
    to.request.skipped = batch.skipped;
    messages.push_back({ps, ToBytes(EncodePushRequest(to.request))});
  }
  const auto replies = SendPushes(messages, membership);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Status read = ReadPushReply(replies[i], requests[messages[i].ps].asked, outcome.shards);
    if (!read.ok()) return read.WithContext("push to ps " + std::to_string(messages[i].ps));
  }
  stats_.rows_pushed += rows;
  return outcome;
}

std::vector<Result<Bytes>> PsClient::SendPushes(const std::vector<Outgoing>& messages,
                                                const Membership& membership) {
  if (!options_.between_pushes) return FanOut(DataOp::kPush, messages, membership);
  std::vector<Result<Bytes>> replies;
  for (const Outgoing& message : messages) {
    if (!replies.empty()) options_.between_pushes();
    replies.push_back(std::move(FanOut(DataOp::kPush, {message}, membership).front()));
  }
  return replies;
}

std::vector<Result<Bytes>> PsClient::FanOut(DataOp op, const std::vector<Outgoing>& messages,
                                            const Membership& membership) {
  const auto deadline = std::chrono::steady_clock::now() + options_.deadline;
  const auto board = std::make_shared<ReplyBoard>();
  {
    MutexLock lock(board->mutex);
    board->replies.resize(messages.size());
    board->missing = messages.size();
  }
  // Held until all have answered, so that no connection ends under a call.
  std::vector<std::shared_ptr<Transport>> held;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ReplyCallback done = [board, i](Result<Bytes> reply) {
      MutexLock lock(board->mutex);
      board->replies[i] = std::move(reply);
      if (--board->missing == 0) board->done.NotifyAll();
    };
    held.push_back(TransportTo(messages[i].ps, membership));
    if (held.back() == nullptr) {
      done(UnavailableError("the membership has no ps " + std::to_string(messages[i].ps)));
      continue;
    }
    stats_.bytes_sent += messages[i].body.size();
    held.back()->Call(static_cast<std::uint16_t>(op), {messages[i].body}, deadline,
                      std::move(done));
  }
  std::vector<Result<Bytes>> replies;
  MutexLock lock(board->mutex);
  while (board->missing > 0) board->done.Wait(board->mutex);
  for (auto& reply : board->replies) {
    if (reply->ok()) {
      stats_.bytes_received += (*reply)->size();
    } else {
      ++stats_.failed_requests;
    }
    replies.push_back(std::move(*reply));
  }
  return replies;
}

std::shared_ptr<Transport> PsClient::TransportTo(std::uint32_t ps, const Membership& membership) {
  const auto member =
      std::find_if(membership.ps().begin(), membership.ps().end(),
                   [&](const PsMember& candidate) { return candidate.index() == ps; });
  if (member == membership.ps().end()) return nullptr;
  Peer old;  // closed outside the lock
  MutexLock lock(mutex_);
  Peer& peer = peers_[ps];
  if (peer.transport == nullptr || peer.incarnation != member->incarnation() ||
      peer.address != member->address()) {
    old = std::exchange(
        peer, {member->incarnation(), member->address(), transports_.Connect(member->address())});
  }
  return peer.transport;
}

}  // namespace pstrain
