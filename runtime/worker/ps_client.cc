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

std::size_t PushBytes(const PushSection& section) {
  std::size_t bytes = 0;
  for (const DenseUpdate& dense : section.dense) bytes += dense.values.bytes().size();
  for (const RowUpdates& rows : section.tables) {
    bytes += rows.keys.size_bytes() + rows.values.bytes().size();
  }
  return bytes;
}

ShardOutcome OutcomeOf(PushStatus status) {
  switch (status) {
    case PushStatus::kApplied:
      return ShardOutcome::kApplied;
    case PushStatus::kDuplicate:
      return ShardOutcome::kDuplicate;
    case PushStatus::kNotOwner:
      return ShardOutcome::kNotOwner;
    case PushStatus::kHasGradient:
      return ShardOutcome::kHasGradient;
    case PushStatus::kEarly:
      return ShardOutcome::kEarly;
    case PushStatus::kOtherChief:
      return ShardOutcome::kOtherChief;
  }
  return ShardOutcome::kUnreachable;
}

/// Fills the outcomes of one message from its reply.
Status ReadPushReply(const Result<Bytes>& bytes, const OutgoingMessage<PushRequest>& message,
                     std::vector<PushOutcome>& outcomes) {
  const std::vector<SectionOrigin>& origins = message.origins;
  const auto set_all = [&](ShardOutcome what) {
    for (const SectionOrigin& at : origins) outcomes[at.work].shards[at.section].outcome = what;
    return OkStatus();
  };
  const StatusCode code = bytes.status().code();
  if (code == StatusCode::kInvalidArgument) return bytes.status();
  // A ps that was just started does not know the variables yet.
  if (code == StatusCode::kFailedPrecondition) return set_all(ShardOutcome::kNotOwner);
  if (code != StatusCode::kOk) return set_all(ShardOutcome::kUnreachable);
  PSTRAIN_ASSIGN_OR_RETURN(const PushReply reply, ParsePushReply(bytes->span()));
  if (reply.statuses.size() != origins.size())
    return InternalError("push reply of another request");
  for (std::size_t i = 0; i < origins.size(); ++i) {
    PushOutcome& outcome = outcomes[origins[i].work];
    outcome.updates[message.ps] = reply.updates;
    outcome.shards[origins[i].section].outcome = OutcomeOf(reply.statuses[i]);
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
    : shards_(layout.shards()),
      transports_(transports),
      options_(std::move(options)),
      layout_(std::make_shared<const ParameterLayout>(std::move(layout))) {}

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
  const WorkToPull work{plan, grant};
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<PullOutcome> outcomes, Pull({&work, 1}, membership));
  return std::move(outcomes.front());
}

Result<std::vector<PullOutcome>> PsClient::Pull(std::span<const WorkToPull> works,
                                                const Membership& membership) {
  PSTRAIN_RETURN_IF_ERROR(CheckMembership(membership, shards_));
  const std::shared_ptr<const ParameterLayout> layout = this->layout();
  MessagePacker<PullRequest> packer(kMessageBytes);
  std::vector<PullOutcome> outcomes;
  for (std::size_t w = 0; w < works.size(); ++w) {
    const RoutedPlan& plan = works[w].plan;
    outcomes.push_back({layout->Allocate(plan), {}});
    for (ShardId shard = 0; shard < shards_; ++shard) {
      if (plan.LeavesOut(shard)) continue;
      const ShardOwner& owner = membership.shards(static_cast<int>(shard));
      if (!owner.active()) return AbortedError("shard " + std::to_string(shard) + " has no owner");
      packer.Add(owner.ps(), {{}, works[w].grant},
                 layout->MakePullSection(shard, TermOf(owner), plan),
                 layout->ReplyBytes(shard, plan), {w, shard});
    }
  }
  auto& messages = packer.messages();
  Exchange exchange(*this, DataOp::kPull, membership);
  for (auto& message : messages) exchange.Send(message.ps, EncodePullRequest(message.works));
  std::vector<Result<Bytes>> replies;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    NoteAnswer(messages[i].ps, replies.emplace_back(exchange.Reply(i)).status());
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string who = "pull from ps " + std::to_string(messages[i].ps);
    if (!replies[i].ok()) return PullError(replies[i].status()).WithContext(who);
    const Status read = TakePullReply(*replies[i], messages[i], *layout, works, outcomes);
    if (!read.ok()) return read.WithContext(who);
  }
  for (const WorkToPull& work : works) stats_.rows_pulled += work.plan.rows();
  return outcomes;
}

Status PsClient::TakePullReply(const Bytes& bytes, const OutgoingMessage<PullRequest>& message,
                               const ParameterLayout& layout, std::span<const WorkToPull> works,
                               std::vector<PullOutcome>& outcomes) {
  PSTRAIN_ASSIGN_OR_RETURN(const PullReply reply, ParsePullReply(bytes.span()));
  if (reply.sections.size() != message.origins.size()) return InternalError("another request's");
  std::size_t at = 0;
  for (const PullRequest& request : message.works) {
    for (const PullSection& asked : request.sections) {
      const PullReplySection& section = reply.sections[at];
      const std::size_t w = message.origins[at++].work;
      PullOutcome& outcome = outcomes[w];
      NoteOwner(message.ps, {asked.shard, asked.term}, section.status != PullStatus::kNotOwner);
      if (outcome.answer != PullAnswer::kValues) continue;
      // Of several messages that with the oldest values counts.
      outcome.updates.try_emplace(message.ps, reply.updates);
      if (section.status == PullStatus::kEarly || section.status == PullStatus::kOtherChief) {
        const bool early = section.status == PullStatus::kEarly;
        outcome = {{},
                   {},
                   early ? PullAnswer::kEarly : PullAnswer::kOtherChief,
                   {asked.shard, asked.term}};
        continue;
      }
      if (section.status != PullStatus::kOk) {
        return AbortedError("it does not own shard " + std::to_string(asked.shard));
      }
      PSTRAIN_RETURN_IF_ERROR(
          layout.Scatter(asked.shard, section.values, works[w].plan, outcome.values));
    }
  }
  return OkStatus();
}

Result<PushOutcome> PsClient::Push(const PushedWork& pushed, const RoutedPlan& plan,
                                   const StepUpdates& updates, const Membership& membership,
                                   std::span<const ShardId> shards) {
  const WorkToPush work{pushed, plan, updates, shards};
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<PushOutcome> outcomes, Push({&work, 1}, membership));
  return std::move(outcomes.front());
}

Status PsClient::PackPush(const WorkToPush& work, std::size_t w, const Membership& membership,
                          const ParameterLayout& layout, const GatheredUpdates& gathered,
                          MessagePacker<PushRequest>& packer, PushOutcome& outcome) {
  const PushedWork& pushed = work.pushed;
  const PushRequest head{pushed.work_id,    pushed.records, pushed.skipped,
                         pushed.non_finite, pushed.grant,   {}};
  std::uint64_t rows_sent = 0;
  const std::size_t count = work.shards.empty() ? shards_ : work.shards.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ShardId shard = work.shards.empty() ? static_cast<ShardId>(i) : work.shards[i];
    if (shard >= shards_) return InvalidArgumentError("no such shard");
    const ShardOwner& owner = membership.shards(static_cast<int>(shard));
    outcome.shards.push_back({shard, TermOf(owner), ShardOutcome::kNotOwner});
    if (!owner.active()) continue;
    PushSection section{shard, TermOf(owner), {}, {}};
    if (pushed.non_finite == 0) {
      section = layout.MakePushSection(shard, section.term, work.plan, work.updates, gathered);
    }
    for (const RowUpdates& table : section.tables) rows_sent += table.keys.size();
    const std::size_t bytes = PushBytes(section);
    packer.Add(owner.ps(), head, std::move(section), bytes, {w, i});
  }
  stats_.rows_pushed += rows_sent;
  return OkStatus();
}

Result<std::vector<PushOutcome>> PsClient::Push(std::span<const WorkToPush> works,
                                                const Membership& membership) {
  PSTRAIN_RETURN_IF_ERROR(CheckMembership(membership, shards_));
  const std::shared_ptr<const ParameterLayout> layout = this->layout();
  std::vector<PushOutcome> outcomes(works.size());
  // Sections refer to them.
  std::vector<GatheredUpdates> gathered(works.size());
  MessagePacker<PushRequest> packer(kMessageBytes);
  for (std::size_t w = 0; w < works.size(); ++w) {
    if (works[w].pushed.non_finite == 0) {
      PSTRAIN_RETURN_IF_ERROR(layout->CheckUpdates(works[w].plan, works[w].updates));
      gathered[w] = layout->Gather(works[w].plan, works[w].updates);
    }
    PSTRAIN_RETURN_IF_ERROR(
        PackPush(works[w], w, membership, *layout, gathered[w], packer, outcomes[w]));
  }
  auto& messages = packer.messages();
  if (options_.between_pushes) {
    std::sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
      return std::tie(a.ps, a.origins.front()) < std::tie(b.ps, b.origins.front());
    });
  }
  Exchange exchange(*this, DataOp::kPush, membership);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (options_.between_pushes && i > 0 && messages[i].ps != messages[i - 1].ps) {
      exchange.WaitForAll();
      options_.between_pushes();
    }
    exchange.Send(messages[i].ps, EncodePushRequest(messages[i].works));
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::uint32_t ps = messages[i].ps;
    const Result<Bytes> reply = exchange.Reply(i);
    NoteAnswer(ps, reply.status());
    const Status read = ReadPushReply(reply, messages[i], outcomes);
    if (!read.ok()) return read.WithContext("push to ps " + std::to_string(ps));
    for (const SectionOrigin& at : messages[i].origins) {
      const ShardPush& push = outcomes[at.work].shards[at.section];
      if (push.outcome == ShardOutcome::kUnreachable) continue;
      NoteOwner(ps, {push.shard, push.term}, push.outcome != ShardOutcome::kNotOwner);
    }
  }
  return outcomes;
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
