#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/chief/chief.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// A ps sends a heartbeat every second, a worker polls at least every 500 ms.
constexpr seconds kPsSilence{10};
constexpr seconds kWorkerSilence{10};
constexpr std::chrono::milliseconds kCallAgain{200};

/// Makes the call again until the ps answers or the link ends.
template <typename Call>
auto UntilAnswered(const std::stop_token& stop, Call call) {
  auto outcome = call();
  std::mutex mutex;
  std::condition_variable_any never;
  while (!stop.stop_requested() && !outcome.ok() && PeerIsAway(outcome.status())) {
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, kCallAgain, [] { return false; });
    outcome = call();
  }
  return outcome;
}

}  // namespace

Result<RegisterPsReply> Chief::RegisterPs(const RegisterPsRequest& request) {
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<ShardCopy> held, AllFromWire<ShardCopy>(request.held()));
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kReleasing) return UnavailableError("the run is ending");
  const Time now = std::chrono::steady_clock::now();
  PSTRAIN_ASSIGN_OR_RETURN(
      const Incarnation incarnation,
      protocol_.RegisterPs(request.index(), {request.process(), request.attempt()},
                           request.address(), std::move(held), now));
  PsPeer& peer = ps_[request.index()];
  if (!peer.link || peer.link->incarnation() != incarnation) {
    if (peer.link) {
      LogWarning("chief", "a ps was replaced", {{"ps", request.index()}});
      stats_.ps_recoveries->Add();
      peer.link->Cancel();
      retired_.push_back(std::move(peer.link));
    }
    peer.link = std::make_unique<PsLink>(request.address(), incarnation);
    peer.released = false;
    ConfigurePs(peer, request.index());
  }
  peer.seen = now;
  RegisterPsReply reply;
  reply.set_chief_term(setup_.directory.chief_term());
  reply.set_incarnation(incarnation);
  Dispatch();
  return reply;
}

void Chief::ConfigurePs(PsPeer& peer, std::uint32_t index) {
  ConfigureRequest request;
  request.set_chief_term(setup_.directory.chief_term());
  request.set_incarnation(peer.link->incarnation());
  *request.mutable_run() = setup_.run;
  peer.link->Post([this, index, request = std::move(request)](ParameterServerClient& client,
                                                              const std::stop_token& stop) {
    struct Outcome {
      Status state;
      bool ok() const { return state.ok(); }
      const Status& status() const { return state; }
    };
    const Outcome outcome = UntilAnswered(stop, [&] { return Outcome{client.Configure(request)}; });
    if (outcome.ok() || stop.stop_requested()) return;
    const std::lock_guard lock(mutex_);
    Fail(outcome.status().WithContext("configure ps " + std::to_string(index)));
  });
}

Result<HeartbeatPsReply> Chief::HeartbeatPs(const HeartbeatPsRequest& request) {
  const std::lock_guard lock(mutex_);
  HeartbeatPsReply reply;
  reply.set_chief_term(setup_.directory.chief_term());
  reply.set_known(protocol_.PsKnown(request.index(), request.incarnation()));
  if (reply.known()) {
    ps_[request.index()].seen = std::chrono::steady_clock::now();
    if (request.leaving()) protocol_.PsLeaving(request.index(), request.incarnation());
    Dispatch();
  }
  return reply;
}

void Chief::Dispatch() {
  for (const ProtocolAction& action : protocol_.TakeActions()) {
    if (const auto* assign = std::get_if<AssignShardsAction>(&action)) {
      Assign(*assign);
    } else if (const auto* release = std::get_if<ReleasePsAction>(&action)) {
      const auto peer = ps_.find(release->ps);
      if (peer != ps_.end() && peer->second.link->incarnation() == release->incarnation) {
        ReleasePs(release->ps, false);
      }
    } else if (const auto* fail = std::get_if<FailAction>(&action)) {
      Fail(fail->status);
    }
  }
}

void Chief::Assign(const AssignShardsAction& action) {
  const auto peer = ps_.find(action.ps);
  if (peer == ps_.end() || peer->second.link->incarnation() != action.incarnation) return;
  AssignShardsRequest request;
  request.set_chief_term(setup_.directory.chief_term());
  request.set_incarnation(action.incarnation);
  request.set_checkpoint(action.checkpoint);
  for (const ShardAssignment& assignment : action.shards) ToWire(assignment, request.add_shards());
  peer->second.link->Post([this, action, request = std::move(request)](
                              ParameterServerClient& client, const std::stop_token& stop) {
    const Time begin = std::chrono::steady_clock::now();
    const auto reply = UntilAnswered(stop, [&] { return client.AssignShards(request); });
    if (stop.stop_requested()) return;
    const std::lock_guard lock(mutex_);
    LogInfo("chief", "shards assigned",
            {{"ps", action.ps},
             {"shards", action.shards.size()},
             {"moved",
              std::ranges::count(action.shards, AssignSource::kMove, &ShardAssignment::source)},
             {"seconds",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()},
             {"outcome", reply.status()}});
    Assigned(action, reply);
  });
}

void Chief::Assigned(const AssignShardsAction& action, const Result<AssignShardsReply>& reply) {
  Result<std::vector<ShardCopy>> copies = reply.ok()
                                              ? AllFromWire<ShardCopy>(reply->shards())
                                              : Result<std::vector<ShardCopy>>(reply.status());
  if (copies.ok()) {
    protocol_.ShardsActivated(action.ps, action.incarnation, *copies);
  } else {
    LogWarning("chief", "an assignment failed",
               {{"ps", action.ps}, {"checkpoint", action.checkpoint}, {"error", copies.status()}});
    const bool bad_checkpoint = copies.status().code() == StatusCode::kDataLoss;
    protocol_.AssignFailed(action.ps, action.incarnation, action, bad_checkpoint);
  }
  Dispatch();
  changed_.notify_all();
}

void Chief::ReleasePs(std::uint32_t index, bool finished) {
  PsPeer& peer = ps_[index];
  ReleaseRequest request;
  request.set_chief_term(setup_.directory.chief_term());
  request.set_incarnation(peer.link->incarnation());
  request.set_finished(finished);
  peer.link->Post([this, index, request = std::move(request)](ParameterServerClient& client,
                                                              const std::stop_token&) {
    const Status status = client.Release(request);
    const std::lock_guard lock(mutex_);
    const auto found = ps_.find(index);
    if (found == ps_.end() || found->second.link->incarnation() != request.incarnation()) return;
    found->second.released = true;
    if (!status.ok()) LogWarning("chief", "a ps was gone before its release", {{"ps", index}});
    changed_.notify_all();
  });
}

void Chief::ExpirePeers(Time now) {
  for (auto& [index, peer] : ps_) {
    if (now - peer.seen <= kPsSilence || !protocol_.PsKnown(index, peer.link->incarnation()))
      continue;
    LogWarning("chief", "a ps is silent and counts as lost", {{"ps", index}});
    protocol_.PsLost(index, peer.link->incarnation());
  }
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    if (now - worker->second.seen > kWorkerSilence && phase_ == Phase::kRunning) {
      LogWarning("chief", "a worker is silent; its batches go to others",
                 {{"worker", worker->first}});
      protocol_.WorkerLost(worker->first, worker->second.process);
      worker = workers_.erase(worker);
    } else {
      ++worker;
    }
  }
}

std::uint64_t Chief::MembershipNumber() const {
  // Numbers of a later chief are higher.
  return (setup_.directory.chief_term() << 32) + protocol_.membership().number;
}

void Chief::FillMembership(Membership* wire) const {
  const MembershipView& view = protocol_.membership();
  wire->set_number(MembershipNumber());
  wire->set_chief_term(setup_.directory.chief_term());
  for (const MembershipView::Ps& ps : view.ps) {
    PsMember* member = wire->add_ps();
    member->set_index(ps.index);
    member->set_incarnation(ps.incarnation);
    member->set_address(ps.address);
  }
  for (const MembershipView::Shard& shard : view.shards) {
    ShardOwner* owner = wire->add_shards();
    owner->set_ps(shard.ps);
    ToWire(shard.term, owner->mutable_term());
    owner->set_active(shard.active);
  }
}

void Chief::AbsorbReports(const PollWorkerRequest& request, WorkerPeer& worker) {
  for (const Report& report : request.reports()) {
    const WorkId work_id = FromWire(report.work_id());
    std::vector<ShardInTerm> copies;
    for (const WireShardInTerm& shard : report.shards()) copies.push_back(FromWire(shard));
    const ReportResult result = protocol_.Report(request.index(), work_id, copies);
    worker.granted.erase(work_id);
    if (result.outcome != ReportResult::Outcome::kCommitted) continue;
    context_.fail_points.Pass(FailPoint::kChiefReportCounted);
    stats_.commits_counted->Add();
    loss_ = loss_known_ ? 0.98 * loss_ + 0.02 * report.loss() : report.loss();
    loss_known_ = true;
  }
}

Result<PollWorkerReply> Chief::PollWorker(const PollWorkerRequest& request) {
  const std::lock_guard lock(mutex_);
  PollWorkerReply reply;
  reply.set_chief_term(setup_.directory.chief_term());
  std::vector<WorkId> in_flight;
  for (const WireWorkId& work_id : request.in_flight()) in_flight.push_back(FromWire(work_id));
  const bool known =
      workers_.contains(request.index()) && workers_[request.index()].process == request.process();
  if (!known) {
    if (!protocol_.WorkerSeen(request.index(), {request.process(), request.attempt()}, in_flight)) {
      reply.set_directive(REPLACED);
      return reply;
    }
    if (workers_.contains(request.index())) stats_.worker_recoveries->Add();
    workers_[request.index()] = {
        .process = request.process(), .granted = {in_flight.begin(), in_flight.end()}, .seen = {}};
  }
  WorkerPeer& worker = workers_[request.index()];
  worker.seen = std::chrono::steady_clock::now();
  AbsorbReports(request, worker);
  // What a former reply granted and the worker does not hold was lost on the way or given back.
  const std::set<WorkId> held(in_flight.begin(), in_flight.end());
  std::vector<WorkId> returned;
  std::set_difference(worker.granted.begin(), worker.granted.end(), held.begin(), held.end(),
                      std::back_inserter(returned));
  protocol_.ReturnGrants(request.index(), returned);
  worker.granted = held;
  if (request.chief_term_seen() == 0) *reply.mutable_run() = setup_.run;
  // The first membership that a worker sees is one that it can work with.
  if (request.membership_seen() < MembershipNumber() &&
      (request.membership_seen() > 0 || protocol_.AllActive())) {
    FillMembership(reply.mutable_membership());
  }
  if (phase_ == Phase::kReleasing) {
    reply.set_directive(finished_ ? FINISH : DRAIN);
    worker.told_end = true;
    return reply;
  }
  reply.set_directive(CONTINUE);
  if (request.leaving()) {
    if (in_flight.empty()) {
      protocol_.WorkerLost(request.index(), request.process());
      workers_.erase(request.index());
    }
    return reply;
  }
  AddGrants(request, worker, &reply);
  if (reply.grants().empty()) reply.set_directive(WAIT);
  return reply;
}

void Chief::AddGrants(const PollWorkerRequest& request, WorkerPeer& worker,
                      PollWorkerReply* reply) {
  if (RestoredLossAwaited()) return;
  for (const GrantedWorkId& granted :
       setup_.barriers.Grants(protocol_, request.index(), request.want())) {
    Grant* grant = reply->add_grants();
    ToWire(granted.work_id, grant->mutable_work_id());
    for (ShardId shard : granted.shards) grant->add_shards(shard);
    worker.granted.insert(granted.work_id);
    stats_.batches_granted->Add();
  }
}

Result<PollEvaluatorReply> Chief::PollEvaluator(const PollEvaluatorRequest& request) {
  const std::lock_guard lock(mutex_);
  PollEvaluatorReply reply;
  reply.set_chief_term(setup_.directory.chief_term());
  evaluator_seen_ = std::chrono::steady_clock::now();
  if (!request.error().empty()) {
    LogWarning("chief", "the evaluator could not read a checkpoint",
               {{"checkpoint", request.checkpoint()}, {"error", request.error()}});
  } else if (!request.checkpoint().empty()) {
    evaluation_.checkpoint = ParseCheckpointName(request.checkpoint());
    evaluation_.metrics = {request.metrics().begin(), request.metrics().end()};
  }
  *reply.mutable_run() = setup_.run;
  reply.set_directive(CONTINUE);
  pinned_.reset();
  if (phase_ == Phase::kReleasing || request.leaving()) {
    reply.set_directive(finished_ ? FINISH : DRAIN);
    evaluator_told_end_ = phase_ == Phase::kReleasing;
    return reply;
  }
  if (newest_checkpoint_ && newest_checkpoint_ != evaluation_.checkpoint) {
    pinned_ = newest_checkpoint_;
    reply.set_checkpoint(CheckpointName(*newest_checkpoint_));
  }
  changed_.notify_all();
  return reply;
}

}  // namespace pstrain
