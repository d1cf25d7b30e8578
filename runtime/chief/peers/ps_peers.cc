#include "runtime/chief/peers/ps_peers.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/random.h"
#include "base/seconds.h"
#include "runtime/rpc/chief_client.h"

namespace pstrain {
namespace {

/// A ps sends a heartbeat every second.
constexpr std::chrono::seconds kPsSilence{10};
/// Calls to a ps that is heard. gRPC gives a connection up after 15 s without an answer.
constexpr std::chrono::seconds kLinkDown{20};
constexpr std::chrono::seconds kLinkWarning{5};
constexpr std::chrono::seconds kNewsWarning{10};
constexpr std::chrono::seconds kShortestMoveLimit{15};

std::string ToPs(std::uint32_t index) { return "chief -> ps " + std::to_string(index); }
/// How a link is down.
std::string HowDown(const Status& error) {
  return CallIsRefused(error) ? "it has refused the chief's calls" : "no call has reached it";
}
std::string FromPs(std::uint32_t index) { return "ps " + std::to_string(index) + " -> chief"; }

/// What this ps has, shards and variables, is of another chief.
bool HasServedAnother(const RegisterPsRequest& request, std::uint64_t chief_term) {
  const std::uint64_t seen = request.chief_term_seen();
  return (seen != 0 && seen != chief_term) ||
         std::ranges::any_of(request.copies(), [chief_term](const WireShardCopy& copy) {
           return copy.term().chief_term() != chief_term;
         });
}

/// Of a ps that has to end: it may have more than the newest checkpoint of the history that is
/// over.
void LogCallsLost(std::uint32_t ps, const std::vector<ShardCopy>& copies,
                  const std::optional<ProgramMark>& mark) {
  std::int64_t most = 0;
  for (const ShardCopy& copy : copies) most = std::max(most, copy.examples);
  const auto kept = static_cast<std::int64_t>(mark ? mark->next_id() : 0);
  LogInfo("chief", "a ps of a former chief ends",
          {{"ps", ps}, {"calls_lost_at_least", std::max<std::int64_t>(0, most - kept)}});
}

}  // namespace

PsPeers::PsPeers(const ChiefDependencies& chief, Connect connect, std::function<void(Status)> fail)
    : chief_(chief),
      connect_(std::move(connect)),
      fail_(std::move(fail)),
      move_limit_(std::max(chief.context.peer_timeout() / 4, kShortestMoveLimit)),
      attempts_(Role::kPs, chief.clock.Now(), chief.setup.run_age) {}

PsPeers::Peer* PsPeers::Find(std::uint32_t index, Incarnation incarnation) {
  const auto found = ps_.find(index);
  return found != ps_.end() && found->second.incarnation == incarnation ? &found->second : nullptr;
}

Result<RegisterPsReply> PsPeers::Register(const RegisterPsRequest& request,
                                          std::vector<ShardCopy> copies, std::string_view from) {
  const std::uint32_t index = request.index();
  const ProtocolTime now = chief_.clock.Now();
  if (chief_.setup.job.starts_over && HasServedAnother(request, chief_.chief_term())) {
    LogCallsLost(index, copies, chief_.setup.mark);
    RegisterPsReply reply;
    reply.set_chief_term(chief_.chief_term());
    reply.set_directive(REPLACED);
    return reply;
  }
  if (const Status late = attempts_.Check(index, request.attempt(), now); !late.ok()) {
    chief_.refusals.Count(RefusalReason::kOutOfRange, from, late);
    return late;
  }
  // The protocol hands the address on to those who move data: workers, and ps that take shards
  // over.
  const std::string& data_address =
      request.data_address().empty() ? request.address() : request.data_address();
  const Result<Incarnation> registered = chief_.protocol.RegisterPs(
      index, {request.process(), request.attempt()}, data_address, std::move(copies), now - gaps_);
  // The pod of a new ps may be there before the chief reads that the job wants it.
  const bool may_be_wanted_soon = index >= chief_.protocol.ps_count() && request.copies().empty() &&
                                  !chief_.context.ps_replicas_file.empty();
  if (may_be_wanted_soon && registered.status().code() == StatusCode::kInvalidArgument) {
    return UnavailableError(registered.status().message() + " as far as the chief has read");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Incarnation incarnation, registered);
  attempts_.Take(index, request.attempt(), now);
  Peer& peer = ps_[index];
  if (!peer.link || peer.incarnation != incarnation) {
    if (peer.link) {
      LogWarning("chief", "a ps was replaced", {{"ps", index}});
      chief_.stats.ps_recoveries->Add();
      peer.link->Cancel();
      retired_.push_back(std::move(peer.link));
    }
    peer = Peer();
    peer.link = connect_(request.address());
    peer.incarnation = incarnation;
    peer.call_key = RandomSeed();
    Configure(index, peer);
  }
  peer.seen = now;
  RegisterPsReply reply;
  reply.set_chief_term(chief_.chief_term());
  reply.set_incarnation(incarnation);
  reply.set_call_key(peer.call_key);
  Dispatch();
  return reply;
}

// A program may begin without work.
PsPeers::Knowledge PsPeers::Newest() const {
  return {std::max(1u, chief_.protocol.epochs()), chief_.run.generation()};
}

void PsPeers::Configure(std::uint32_t index, Peer& peer) {
  peer.told = Newest();
  ConfigureRequest request;
  request.set_chief_term(chief_.chief_term());
  request.set_incarnation(peer.incarnation);
  request.set_call_key(peer.call_key);
  request.set_chief_id(chief_.setup.directory.term().id);
  request.set_epochs(peer.told.epochs);
  *request.mutable_run() = chief_.run;
  peer.link->Configure(std::move(request), [this, index, incarnation = peer.incarnation,
                                            told = peer.told](const Status& status) {
    Peer* const known = Find(index, incarnation);
    if (status.ok() && known != nullptr) known->known = told;
    Configured(index, incarnation, status);
  });
}

void PsPeers::TellNews() {
  const Knowledge newest = Newest();
  for (auto& [index, peer] : ps_) {
    const bool told =
        peer.told.epochs >= newest.epochs && peer.told.generation >= newest.generation;
    if (told || !chief_.protocol.PsKnown(index, peer.incarnation)) continue;
    if (!peer.asked) peer.asked = chief_.clock.Now();
    Configure(index, peer);
  }
}

// One that is not configured yet owns no shard: its first assignment comes after that call.
bool PsPeers::LacksNews(std::uint32_t index, const Peer& peer) const {
  const Knowledge newest = Newest();
  const bool lacks = peer.known.epochs < newest.epochs || peer.known.generation < newest.generation;
  return peer.known.epochs > 0 && lacks && chief_.protocol.PsKnown(index, peer.incarnation);
}

bool PsPeers::AllInformed() const {
  return std::ranges::none_of(
      ps_, [this](const auto& entry) { return LacksNews(entry.first, entry.second); });
}

// A ps may be heard all the time while it answers no call: no other deadline looks at it then, as
// all shards have their owners, and nothing is in flight that could be late.
void PsPeers::WatchInformed() {
  std::chrono::nanoseconds longest{0};
  const Knowledge newest = Newest();
  for (auto& [index, peer] : ps_) {
    if (!LacksNews(index, peer)) {
      peer.asked.reset();
      peer.late = false;
    }
    if (!peer.asked || chief_.protocol.draining()) continue;
    const std::chrono::nanoseconds waited = chief_.Since(*peer.asked);
    longest = std::max(longest, waited);
    if (waited > kNewsWarning && !std::exchange(peer.late, true)) {
      LogWarning("chief",
                 "a ps does not confirm the number of epochs or new variables; nothing is granted",
                 {{"ps", index},
                  {"link", ToPs(index)},
                  {"epochs", newest.epochs},
                  {"generation", newest.generation},
                  {"seconds", InSeconds(waited)}});
    }
    if (waited <= chief_.context.peer_timeout()) continue;
    fail_(DeadlineExceededError(
        "ps " + std::to_string(index) + " has not confirmed for " + WholeSeconds(waited) +
        " that the job has " + std::to_string(newest.epochs) + " epochs and the variables of " +
        std::to_string(newest.generation) + " declarations (" + ToPs(index) +
        "), and nothing is granted before; see why in its log, check the network between them" +
        WithField(", or raise ", chief_.context.job.fields.peer_timeout)));
  }
  chief_.stats.epochs_wait->Set(InSeconds(longest));
}

void PsPeers::Configured(std::uint32_t index, Incarnation incarnation, const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::kAborted) {
    LogWarning("chief", "a ps serves another chief of this chief's term",
               {{"ps", index}, {"error", status}});
    superseded_ = true;
    return;
  }
  if (Find(index, incarnation) == nullptr) return;
  // It knows itself by another registration: this one came late, or it has gone to the next chief.
  if (status.code() == StatusCode::kFailedPrecondition) {
    return HaveRegisterAgain(index, incarnation, status);
  }
  fail_(status.WithContext("configure ps " + std::to_string(index)));
}

HeartbeatPsReply PsPeers::Heartbeat(const HeartbeatPsRequest& request) {
  HeartbeatPsReply reply;
  reply.set_chief_term(chief_.chief_term());
  // Without the key it is not that ps: it is told to register, which changes nothing.
  const Peer* peer = Find(request.index(), request.incarnation());
  reply.set_known(peer != nullptr && peer->call_key == request.call_key() &&
                  chief_.protocol.PsKnown(request.index(), request.incarnation()));
  if (reply.known()) {
    ps_[request.index()].seen = chief_.clock.Now();
    if (request.leaving()) chief_.protocol.PsLeaving(request.index(), request.incarnation());
    Dispatch();
  }
  return reply;
}

void PsPeers::Dispatch() {
  TellNews();
  for (const ProtocolAction& action : chief_.protocol.TakeActions()) {
    if (const auto* assign = std::get_if<AssignShardsAction>(&action)) {
      Assign(*assign);
    } else if (const auto* release = std::get_if<ReleasePsAction>(&action)) {
      const Peer* peer = Find(release->ps, release->incarnation);
      if (peer != nullptr) Release(release->ps, *peer, false);
    } else if (const auto* fail = std::get_if<FailAction>(&action)) {
      fail_(fail->status);
    } else if (const auto* returns = std::get_if<ReturnToMarkAction>(&action)) {
      LogWarning("chief", "this chief ends: the program goes on from its newest mark",
                 {{"reason", returns->why}});
      returns_to_mark_ = true;
    }
  }
}

std::string PsPeers::problem() const {
  for (const auto& [index, peer] : ps_) {
    if (!chief_.protocol.PsKnown(index, peer.incarnation)) {
      return FromPs(index) + ": nothing heard for " + WholeSeconds(chief_.Since(peer.seen));
    }
    const LinkHealth health = peer.link->health();
    if (health.failing_since) {
      return ToPs(index) + ": " + HowDown(health.error) + " for " + WholeSeconds(DownFor(health)) +
             ", " + health.error.ToString();
    }
    const std::string ps = "ps " + std::to_string(index);
    if (const std::string waits = peer.assigned.Describe(chief_.clock.Now()); !waits.empty()) {
      return ps + " " + waits;
    }
    if (!peer.problem.ok()) return ps + ": " + peer.problem.message();
  }
  return "";
}

void PsPeers::Expire() {
  std::chrono::nanoseconds oldest{0};
  for (auto& [index, peer] : ps_) {
    if (!chief_.protocol.PsKnown(index, peer.incarnation)) continue;
    const std::chrono::nanoseconds silent = chief_.Since(peer.seen);
    if (silent > kPsSilence) {
      LogWarning("chief", "a ps is silent and counts as lost",
                 {{"ps", index}, {"link", FromPs(index)}, {"seconds", InSeconds(silent)}});
      chief_.protocol.PsLost(index, peer.incarnation);
      continue;
    }
    const LinkHealth health = peer.link->health();
    oldest = std::max(oldest, chief_.Since(health.last_answer));
    ExpireLink(index, peer, health);
  }
  chief_.stats.ps_link_age->Set(InSeconds(oldest));
  ForgetSurplus();
}

// What remains of ps that the job does not want any more. Until the answer to its release, or for
// as long as an answer may take, the link is needed.
void PsPeers::ForgetSurplus() {
  for (auto entry = ps_.lower_bound(chief_.protocol.ps_count()); entry != ps_.end();) {
    auto& [index, peer] = *entry;
    const bool answered = peer.released || chief_.Since(peer.seen) > kPsSilence;
    if (!answered || chief_.protocol.PsKnown(index, peer.incarnation)) {
      ++entry;
      continue;
    }
    peer.link->Cancel();
    retired_.push_back(std::move(peer.link));
    entry = ps_.erase(entry);
  }
}

std::chrono::nanoseconds PsPeers::DownFor(const LinkHealth& health) const {
  if (!health.failing_since) return std::chrono::nanoseconds(0);
  return chief_.Since(std::max(*health.failing_since, gap_end_));
}

// Only while training goes on: a shard that has no owner already lets the job wait for its peers,
// and one more loss of the same ps would change nothing.
void PsPeers::ExpireLink(std::uint32_t index, Peer& peer, const LinkHealth& health) {
  const std::chrono::nanoseconds down = DownFor(health);
  if (!health.failing_since && std::exchange(peer.unreachable, false)) {
    LogInfo("chief", "calls reach a ps again", {{"ps", index}, {"link", ToPs(index)}});
  }
  if (down > kLinkWarning && !std::exchange(peer.unreachable, true)) {
    LogWarning("chief", "calls do not reach a ps, though it is heard",
               {{"ps", index},
                {"link", ToPs(index)},
                {"how", HowDown(health.error)},
                {"seconds", InSeconds(down)},
                {"error", health.error}});
  }
  if (down <= kLinkDown || !chief_.protocol.AllActive()) return;
  LogWarning("chief", "a ps cannot be reached and counts as lost",
             {{"ps", index},
              {"link", ToPs(index)},
              {"how", HowDown(health.error)},
              {"seconds", InSeconds(down)}});
  chief_.protocol.PsLost(index, peer.incarnation);
}

void PsPeers::ForgiveGap(std::chrono::nanoseconds gap) {
  gaps_ += gap;
  gap_end_ = chief_.clock.Now();
  for (auto& [index, peer] : ps_) {
    peer.seen = chief_.Forgiven(peer.seen, gap);
    if (peer.asked) peer.asked = chief_.Forgiven(*peer.asked, gap);
    peer.assigned.Forgive([&](ProtocolTime since) { return chief_.Forgiven(since, gap); });
  }
}

void PsPeers::HaveRegisterAgain(std::uint32_t index, Incarnation incarnation, const Status& why) {
  LogWarning("chief", "a ps has to register again", {{"ps", index}, {"reason", why}});
  chief_.protocol.PsLost(index, incarnation);
}

bool PsPeers::WriteCheckpointShards(std::uint32_t index, WriteCheckpointShardsRequest request,
                                    PsLink::WriteDone done) {
  const Peer* peer = Find(index, request.incarnation());
  if (peer == nullptr) return false;
  request.set_call_key(peer->call_key);
  peer->link->WriteCheckpointShards(std::move(request), std::move(done));
  return true;
}

void PsPeers::Release(std::uint32_t index, const Peer& peer, bool finished) {
  ReleaseRequest request;
  request.set_chief_term(chief_.chief_term());
  request.set_incarnation(peer.incarnation);
  request.set_call_key(peer.call_key);
  request.set_finished(finished);
  peer.link->Release(std::move(request),
                     [this, index, incarnation = peer.incarnation](const Status& status) {
                       Peer* released = Find(index, incarnation);
                       if (released == nullptr) return;
                       released->released = true;
                       if (!status.ok())
                         LogWarning("chief", "a ps was gone before its release", {{"ps", index}});
                     });
}

void PsPeers::ReleaseAll(bool finished) {
  for (const auto& [index, peer] : ps_) Release(index, peer, finished);
}

bool PsPeers::AllReleased() const {
  return std::ranges::all_of(ps_, [](const auto& entry) { return entry.second.released; });
}

std::vector<std::uint32_t> PsPeers::Missing() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t index = 0; index < chief_.protocol.ps_count(); ++index) {
    if (!ps_.contains(index)) missing.push_back(index);
  }
  return missing;
}

std::vector<std::unique_ptr<PsLink>> PsPeers::TakeRetired() { return std::exchange(retired_, {}); }

std::vector<std::unique_ptr<PsLink>> PsPeers::TakeAll() {
  std::vector<std::unique_ptr<PsLink>> links = TakeRetired();
  for (auto& [index, peer] : ps_) links.push_back(std::move(peer.link));
  ps_.clear();
  return links;
}

}  // namespace pstrain
