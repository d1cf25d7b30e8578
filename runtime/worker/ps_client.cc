#include "runtime/worker/ps_client.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "runtime/wire/data_op.h"
#include "runtime/wire/data_plane.h"

namespace pstrain {
namespace {

ShardTerm TermOf(const ShardOwner& owner) {
  return {owner.term().chief_term(), owner.term().counter()};
}

Bytes ToBytes(WireBuffer buffer) {
  auto owner = std::make_shared<const WireBuffer>(std::move(buffer));
  const auto bytes = owner->bytes();
  return {std::move(owner), bytes};
}

Status CheckMembership(const Membership& membership, std::uint32_t shards) {
  if (membership.shards_size() == static_cast<int>(shards)) return OkStatus();
  return AbortedError("membership " + std::to_string(membership.number()) +
                      " does not name every shard");
}

/// What goes to one ps in one message.
template <typename Request>
struct Outgoing {
  std::uint32_t ps = 0;
  Request request;
  /// Parallel to the sections: what the caller calls them.
  std::vector<std::size_t> asked;
};

/// Puts sections into messages.
template <typename Request>
class Packer {
 public:
  /// `bytes`: what the section adds to the larger of request and reply.
  template <typename Section>
  void Add(std::uint32_t ps, Section section, std::size_t bytes, std::size_t asked) {
    const auto [at, first] = open_.try_emplace(ps);
    if (first || at->second.bytes + bytes > PsClient::kMessageBytes) {
      at->second = {messages_.size(), 0};
      messages_.push_back({ps, {}, {}});
    }
    at->second.bytes += bytes;
    Outgoing<Request>& message = messages_[at->second.message];
    message.request.sections.push_back(std::move(section));
    message.asked.push_back(asked);
  }
  std::vector<Outgoing<Request>>& messages() { return messages_; }

 private:
  struct Open {
    std::size_t message = 0;
    std::size_t bytes = 0;
  };
  std::vector<Outgoing<Request>> messages_;
  std::map<std::uint32_t, Open> open_;  // by ps
};

std::size_t PushBytes(const PushSection& section) {
  std::size_t bytes = 0;
  for (const DenseUpdate& dense : section.dense) bytes += dense.values.bytes().size();
  for (const RowUpdates& rows : section.tables) {
    bytes += rows.keys.size_bytes() + rows.values.bytes().size();
  }
  return bytes;
}

/// Fills the outcomes of one ps from its reply.
Status ReadPushReply(const Result<Bytes>& bytes, const Outgoing<PushRequest>& message,
                     PushOutcome& outcome) {
  const std::vector<std::size_t>& asked = message.asked;
  std::vector<ShardPush>& outcomes = outcome.shards;
  const auto set_all = [&](ShardOutcome what) {
    for (const std::size_t i : asked) outcomes[i].outcome = what;
    return OkStatus();
  };
  const StatusCode code = bytes.status().code();
  if (code == StatusCode::kInvalidArgument) return bytes.status();
  // A ps that was just started does not know the variables yet.
  if (code == StatusCode::kFailedPrecondition) return set_all(ShardOutcome::kNotOwner);
  if (code != StatusCode::kOk) return set_all(ShardOutcome::kUnreachable);
  PSTRAIN_ASSIGN_OR_RETURN(const PushReply reply, ParsePushReply(bytes->span()));
  if (reply.sections.size() != asked.size()) return InternalError("push reply of another request");
  outcome.updates[message.ps] = reply.updates;
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
      case PushStatus::kHasGradient:
        push.outcome = ShardOutcome::kHasGradient;
        break;
      case PushStatus::kEarly:
        push.outcome = ShardOutcome::kEarly;
        break;
      case PushStatus::kOtherChief:
        push.outcome = ShardOutcome::kOtherChief;
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

std::uint64_t StalenessOf(const UpdateCounts& pull, const UpdateCounts& push) {
  std::uint64_t most = 0;
  for (const auto& [ps, after] : push) {
    const auto before = pull.find(ps);
    if (before == pull.end() || after <= before->second) continue;
    most = std::max(most, after - before->second - 1);
  }
  return most;
}

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
                                                   std::uint32_t shards, Transport& transports,
                                                   PsClientOptions options) {
  PSTRAIN_ASSIGN_OR_RETURN(ParameterLayout layout, ParameterLayout::Create(variables, shards));
  return std::unique_ptr<PsClient>(new PsClient(std::move(layout), transports, std::move(options)));
}

PsClient::PsClient(ParameterLayout layout, Transport& transports, PsClientOptions options)
    : layout_(std::move(layout)), transports_(transports), options_(std::move(options)) {}

/// Messages that are on their way to ps at the same time, and their replies.
class PsClient::Exchange {
 public:
  /// `client` and `membership` outlive this.
  Exchange(PsClient& client, DataOp op, const Membership& membership)
      : client_(client),
        op_(op),
        membership_(membership),
        deadline_(SteadyNow() + client.options_.deadline) {}
  /// Waits for all, so that no connection ends under a call.
  ~Exchange() { WaitForAll(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void Send(std::uint32_t ps, WireBuffer body) {
    std::size_t place = 0;
    {
      MutexLock lock(board_->mutex);
      place = board_->replies.size();
      board_->replies.emplace_back();
      ++board_->missing;
    }
    Histogram* const duration =
        op_ == DataOp::kPull ? client_.options_.pull_duration : client_.options_.push_duration;
    ReplyCallback done = [board = board_, place, duration,
                          begin = SteadyNow()](Result<Bytes> reply) {
      if (duration != nullptr) duration->Observe(SteadyNow() - begin);
      MutexLock lock(board->mutex);
      board->replies[place] = std::move(reply);
      --board->missing;
      board->changed.NotifyAll();
    };
    const std::shared_ptr<Connection> connection = client_.ConnectionTo(ps, membership_);
    if (connection == nullptr) {
      return done(UnavailableError("the membership has no ps " + std::to_string(ps)));
    }
    client_.stats_.bytes_sent += body.size();
    connection->Call(static_cast<std::uint16_t>(op_), {ToBytes(std::move(body))}, deadline_,
                     std::move(done));
    held_.push_back(connection);
  }

  /// Until every message that was sent has its reply.
  void WaitForAll() {
    MutexLock lock(board_->mutex);
    while (board_->missing > 0) board_->changed.Wait(board_->mutex);
  }

  /// The reply to the message that was sent as the `place`-th; waits for it. Once per message.
  Result<Bytes> Reply(std::size_t place) {
    MutexLock lock(board_->mutex);
    while (!board_->replies[place]) board_->changed.Wait(board_->mutex);
    Result<Bytes> reply = *std::exchange(board_->replies[place], std::nullopt);
    if (reply.ok()) {
      client_.stats_.bytes_received += reply->size();
    } else {
      ++client_.stats_.failed_requests;
    }
    return reply;
  }

 private:
  /// Lives until the last callback has run.
  struct Board {
    Mutex mutex;
    CondVar changed;
    std::deque<std::optional<Result<Bytes>>> replies PSTRAIN_GUARDED_BY(mutex);
    std::size_t missing PSTRAIN_GUARDED_BY(mutex) = 0;
  };

  PsClient& client_;
  const DataOp op_;
  const Membership& membership_;
  const std::chrono::steady_clock::time_point deadline_;
  const std::shared_ptr<Board> board_ = std::make_shared<Board>();
  std::vector<std::shared_ptr<Connection>> held_;
};

Result<PullOutcome> PsClient::Pull(const RoutedPlan& plan, const Membership& membership,
                                   const GrantContext& grant) {
  PSTRAIN_RETURN_IF_ERROR(CheckMembership(membership, layout_.shards()));
  Packer<PullRequest> packer;
  for (ShardId shard = 0; shard < layout_.shards(); ++shard) {
    if (layout_.Untouched(shard, plan)) continue;
    const ShardOwner& owner = membership.shards(static_cast<int>(shard));
    if (!owner.active()) return AbortedError("shard " + std::to_string(shard) + " has no owner");
    packer.Add(owner.ps(), layout_.MakePullSection(shard, TermOf(owner), plan),
               layout_.ReplyBytes(shard, plan), shard);
  }
  auto& messages = packer.messages();
  Exchange exchange(*this, DataOp::kPull, membership);
  for (auto& message : messages) {
    message.request.grant = grant;
    exchange.Send(message.ps, EncodePullRequest(message.request));
  }
  PullOutcome outcome{layout_.Allocate(plan), {}};
  std::vector<Result<Bytes>> replies;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    NoteAnswer(messages[i].ps, replies.emplace_back(exchange.Reply(i)).status());
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string who = "pull from ps " + std::to_string(messages[i].ps);
    const Result<Bytes>& bytes = replies[i];
    if (!bytes.ok()) return PullError(bytes.status()).WithContext(who);
    PSTRAIN_ASSIGN_OR_RETURN(const PullReply reply, ParsePullReply(bytes->span()));
    // Of several messages that with the oldest values counts.
    outcome.updates.try_emplace(messages[i].ps, reply.updates);
    const auto& asked = messages[i].request.sections;
    if (reply.sections.size() != asked.size()) return InternalError(who + ": another request's");
    for (std::size_t s = 0; s < asked.size(); ++s) {
      const PullReplySection& section = reply.sections[s];
      const ShardId shard = asked[s].shard;
      if (section.shard != shard) return InternalError(who + ": out of order");
      NoteOwner(messages[i].ps, {shard, asked[s].term}, section.status != PullStatus::kNotOwner);
      if (section.status == PullStatus::kEarly) {
        return PullOutcome{{}, {}, PullAnswer::kEarly, {shard, asked[s].term}};
      }
      if (section.status == PullStatus::kOtherChief) {
        return PullOutcome{{}, {}, PullAnswer::kOtherChief, {shard, asked[s].term}};
      }
      if (section.status != PullStatus::kOk) {
        return AbortedError(who + ": it does not own shard " + std::to_string(shard));
      }
      PSTRAIN_RETURN_IF_ERROR(layout_.Scatter(shard, section.values, plan, outcome.values));
    }
  }
  stats_.rows_pulled += plan.rows();
  return outcome;
}

Result<PushOutcome> PsClient::Push(const PushedBatch& batch, const RoutedPlan& plan,
                                   const StepUpdates& updates, const Membership& membership,
                                   std::span<const ShardId> shards) {
  PSTRAIN_RETURN_IF_ERROR(CheckMembership(membership, layout_.shards()));
  const bool left_out = batch.non_finite > 0;
  std::vector<ValueArray> rows;
  if (!left_out) {
    PSTRAIN_RETURN_IF_ERROR(layout_.CheckUpdates(plan, updates));
    rows = layout_.GatherRows(plan, updates);
  }
  PushOutcome outcome;
  Packer<PushRequest> packer;
  std::uint64_t rows_sent = 0;
  const std::size_t count = shards.empty() ? layout_.shards() : shards.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ShardId shard = shards.empty() ? static_cast<ShardId>(i) : shards[i];
    if (shard >= layout_.shards()) return InvalidArgumentError("no such shard");
    const ShardOwner& owner = membership.shards(static_cast<int>(shard));
    outcome.shards.push_back({shard, TermOf(owner), ShardOutcome::kNotOwner});
    if (!owner.active()) continue;
    PushSection section{shard, TermOf(owner), {}, {}};
    if (!left_out) section = layout_.MakePushSection(shard, section.term, plan, updates, rows);
    for (const RowUpdates& table : section.tables) rows_sent += table.keys.size();
    const std::size_t bytes = PushBytes(section);
    packer.Add(owner.ps(), std::move(section), bytes, i);
  }
  auto& messages = packer.messages();
  if (options_.between_pushes) {
    std::sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
      return std::tie(a.ps, a.asked.front()) < std::tie(b.ps, b.asked.front());
    });
  }
  Exchange exchange(*this, DataOp::kPush, membership);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (options_.between_pushes && i > 0 && messages[i].ps != messages[i - 1].ps) {
      exchange.WaitForAll();
      options_.between_pushes();
    }
    PushRequest& request = messages[i].request;
    request.work_id = batch.work_id;
    request.records = batch.records;
    request.skipped = batch.skipped;
    request.non_finite = batch.non_finite;
    request.grant = batch.grant;
    exchange.Send(messages[i].ps, EncodePushRequest(request));
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::uint32_t ps = messages[i].ps;
    const Result<Bytes> reply = exchange.Reply(i);
    NoteAnswer(ps, reply.status());
    const Status read = ReadPushReply(reply, messages[i], outcome);
    if (!read.ok()) return read.WithContext("push to ps " + std::to_string(ps));
    for (const std::size_t asked : messages[i].asked) {
      const ShardPush& push = outcome.shards[asked];
      if (push.outcome == ShardOutcome::kUnreachable) continue;
      NoteOwner(ps, {push.shard, push.term}, push.outcome != ShardOutcome::kNotOwner);
    }
  }
  stats_.rows_pushed += rows_sent;
  return outcome;
}

void PsClient::NoteAnswer(std::uint32_t ps, const Status& status) {
  if (options_.problems == nullptr || status.code() == StatusCode::kCancelled) return;
  // With these a ps has refused a request that it has read.
  const bool answered = status.ok() || status.code() == StatusCode::kInvalidArgument ||
                        status.code() == StatusCode::kFailedPrecondition;
  if (answered) return options_.problems->Answered(ps);
  const bool late = status.code() == StatusCode::kDeadlineExceeded;
  options_.problems->NotAnswered(ps, status, late ? options_.deadline : std::chrono::seconds(0));
}

void PsClient::NoteOwner(std::uint32_t ps, ShardInTerm shard, bool owned) {
  if (options_.problems == nullptr) return;
  if (owned) return options_.problems->Owned(shard.shard);
  options_.problems->Refused(ps, shard);
}

std::shared_ptr<Connection> PsClient::ConnectionTo(std::uint32_t ps, const Membership& membership) {
  const auto member =
      std::find_if(membership.ps().begin(), membership.ps().end(),
                   [&](const PsMember& candidate) { return candidate.index() == ps; });
  if (member == membership.ps().end()) return nullptr;
  Peer old;  // closed outside the lock
  MutexLock lock(mutex_);
  Peer& peer = peers_[ps];
  if (peer.connection == nullptr || peer.incarnation != member->incarnation() ||
      peer.address != member->address()) {
    old = std::exchange(
        peer, {member->incarnation(), member->address(), transports_.Connect(member->address())});
  }
  return peer.connection;
}

}  // namespace pstrain
