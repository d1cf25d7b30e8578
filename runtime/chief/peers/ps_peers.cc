#include "runtime/chief/peers/ps_peers.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/random.h"
#include "runtime/chief/peers/ps_messages.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

/// A ps sends a heartbeat every second.
constexpr std::chrono::seconds kPsSilence{10};

}  // namespace

PsPeers::PsPeers(const ChiefDependencies& chief, Connect connect, std::function<void(Status)> fail)
    : chief_(chief),
      connect_(std::move(connect)),
      fail_(std::move(fail)),
      attempts_("ps", chief.clock.Now(), chief.setup.run_age) {}

PsPeers::Peer* PsPeers::Find(std::uint32_t index, Incarnation incarnation) {
  const auto found = ps_.find(index);
  return found != ps_.end() && found->second.incarnation == incarnation ? &found->second : nullptr;
}

Result<RegisterPsReply> PsPeers::Register(const RegisterPsRequest& request,
                                          std::vector<ShardCopy> copies, std::string_view from) {
  const std::uint32_t index = request.index();
  const ProtocolTime now = chief_.clock.Now();
  if (const Status late = attempts_.Check(index, request.attempt(), now); !late.ok()) {
    chief_.refusals.Count(RefusalReason::kOutOfRange, from, late);
    return late;
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Incarnation incarnation,
                           chief_.protocol.RegisterPs(index, {request.process(), request.attempt()},
                                                      request.address(), std::move(copies), now));
  attempts_.Take(index, request.attempt(), now);
  Peer& peer = ps_[index];
  if (!peer.link || peer.incarnation != incarnation) {
    if (peer.link) {
      LogWarning("chief", "a ps was replaced", {{"ps", index}});
      chief_.stats.ps_recoveries->Add();
      peer.link->Cancel();
      retired_.push_back(std::move(peer.link));
    }
    peer.link = connect_(request.address());
    peer.incarnation = incarnation;
    peer.call_key = RandomSeed();
    peer.released = false;
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

void PsPeers::Configure(std::uint32_t index, const Peer& peer) {
  ConfigureRequest request;
  request.set_chief_term(chief_.chief_term());
  request.set_incarnation(peer.incarnation);
  request.set_call_key(peer.call_key);
  *request.mutable_run() = chief_.setup.run;
  peer.link->Configure(std::move(request), [this, index](const Status& status) {
    if (!status.ok()) fail_(status.WithContext("configure ps " + std::to_string(index)));
  });
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
  for (const ProtocolAction& action : chief_.protocol.TakeActions()) {
    if (const auto* assign = std::get_if<AssignShardsAction>(&action)) {
      Assign(*assign);
    } else if (const auto* release = std::get_if<ReleasePsAction>(&action)) {
      const Peer* peer = Find(release->ps, release->incarnation);
      if (peer != nullptr) Release(release->ps, *peer, false);
    } else if (const auto* fail = std::get_if<FailAction>(&action)) {
      fail_(fail->status);
    }
  }
}

void PsPeers::Assign(const AssignShardsAction& action) {
  const Peer* peer = Find(action.ps, action.incarnation);
  if (peer == nullptr) return;
  AssignShardsRequest request = ToRequest(action, chief_.chief_term());
  request.set_call_key(peer->call_key);
  peer->link->AssignShards(
      std::move(request),
      [this, action](const Result<AssignShardsReply>& reply, std::chrono::nanoseconds took) {
        LogInfo("chief", "shards assigned",
                {{"ps", action.ps},
                 {"shards", action.shards.size()},
                 {"moved",
                  std::ranges::count(action.shards, AssignSource::kMove, &ShardAssignment::source)},
                 {"seconds", std::chrono::duration<double>(took).count()},
                 {"outcome", reply.status()}});
        Assigned(action, reply);
      });
}

void PsPeers::Assigned(const AssignShardsAction& action, const Result<AssignShardsReply>& reply) {
  const Result<std::vector<ShardCopy>> copies =
      reply.ok() ? AllFromWire<ShardCopy>(reply->shards())
                 : Result<std::vector<ShardCopy>>(reply.status());
  if (copies.ok()) {
    chief_.protocol.ShardsActivated(action.ps, action.incarnation, *copies);
  } else {
    LogWarning("chief", "an assignment failed",
               {{"ps", action.ps}, {"checkpoint", action.checkpoint}, {"error", copies.status()}});
    const bool bad_checkpoint = copies.status().code() == StatusCode::kDataLoss;
    chief_.protocol.AssignFailed(action.ps, action.incarnation, action, bad_checkpoint);
  }
  Dispatch();
}

void PsPeers::Expire() {
  for (const auto& [index, peer] : ps_) {
    if (chief_.Since(peer.seen) <= kPsSilence) continue;
    if (!chief_.protocol.PsKnown(index, peer.incarnation)) continue;
    LogWarning("chief", "a ps is silent and counts as lost", {{"ps", index}});
    chief_.protocol.PsLost(index, peer.incarnation);
  }
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
  const auto count =
      static_cast<std::uint32_t>(chief_.context.job.spec().replica_specs().ps().replicas());
  for (std::uint32_t index = 0; index < count; ++index) {
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
