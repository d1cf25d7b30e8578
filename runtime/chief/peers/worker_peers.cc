#include "runtime/chief/peers/worker_peers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

/// A worker polls at least every 500 ms.
constexpr std::chrono::seconds kWorkerSilence{10};
/// Weight of the newest loss in the mean.
constexpr double kNewestLoss = 0.02;

}  // namespace

PollWorkerReply WorkerPeers::Poll(const PollWorkerRequest& request, const RunPhase& phase) {
  PollWorkerReply reply;
  reply.set_chief_term(chief_.chief_term());
  if (!InOrder(request)) {
    reply.set_sequence(newest_poll_.at(request.index()).second);
    reply.set_directive(WAIT);
    return reply;
  }
  std::vector<WorkId> in_flight;
  for (const WireWorkId& work_id : request.in_flight()) in_flight.push_back(FromWire(work_id));
  Peer* worker = Admit(request, in_flight);
  if (worker == nullptr) {
    reply.set_directive(REPLACED);
    return reply;
  }
  newest_poll_[request.index()] = {request.process(), request.sequence()};
  reply.set_sequence(request.sequence());
  worker->seen = chief_.clock.Now();
  AbsorbReports(request, *worker);
  TakeBack(request.index(), in_flight, *worker);
  watch_.Polled(request, worker->granted);
  if (request.chief_term_seen() == 0) *reply.mutable_run() = chief_.setup.run;
  // The first membership that a worker sees is one that it can work with.
  if (request.membership_seen() < MembershipNumber() &&
      (request.membership_seen() > 0 || chief_.protocol.AllActive())) {
    FillMembership(reply.mutable_membership());
  }
  if (phase.releasing) {
    reply.set_directive(phase.finished ? FINISH : DRAIN);
    worker->told_end = true;
    return reply;
  }
  reply.set_directive(CONTINUE);
  if (request.leaving()) {
    if (in_flight.empty()) {
      chief_.protocol.WorkerLost(request.index(), request.process());
      workers_.erase(request.index());
      watch_.Forget(request.index());
    }
    return reply;
  }
  if (!phase.grants_wait) AddGrants(request, *worker, &reply);
  if (reply.grants().empty()) reply.set_directive(WAIT);
  return reply;
}

// Of another process than the last: Admit decides which of the two is the older.
bool WorkerPeers::InOrder(const PollWorkerRequest& request) const {
  const auto newest = newest_poll_.find(request.index());
  return newest == newest_poll_.end() || newest->second.first != request.process() ||
         newest->second.second < request.sequence();
}

WorkerPeers::Peer* WorkerPeers::Admit(const PollWorkerRequest& request,
                                      const std::vector<WorkId>& in_flight) {
  const auto known = workers_.find(request.index());
  if (known != workers_.end() && known->second.process == request.process()) return &known->second;
  const PeerProcess process{request.process(), request.attempt()};
  if (!chief_.protocol.WorkerSeen(request.index(), process, in_flight)) return nullptr;
  if (known != workers_.end()) chief_.stats.worker_recoveries->Add();
  Peer& worker = workers_[request.index()];
  worker = {.process = request.process(), .granted = {in_flight.begin(), in_flight.end()}};
  return &worker;
}

void WorkerPeers::AbsorbReports(const PollWorkerRequest& request, Peer& worker) {
  for (const Report& report : request.reports()) {
    const WorkId work_id = FromWire(report.work_id());
    std::vector<ShardInTerm> copies;
    for (const WireShardInTerm& shard : report.shards()) copies.push_back(FromWire(shard));
    const ReportResult result = chief_.protocol.Report(request.index(), work_id, copies);
    worker.granted.erase(work_id);
    if (result.outcome != ReportResult::Outcome::kCommitted) continue;
    chief_.context.fail_points.Pass(FailPoint::kChiefReportCounted);
    chief_.stats.commits_counted->Add();
    watch_.Committed(request.index());
    // A batch that was left out has none, and a mean with one that is no number stays none.
    if (!report.has_loss() || !std::isfinite(report.loss())) continue;
    loss_ = loss_ ? (1 - kNewestLoss) * *loss_ + kNewestLoss * report.loss() : report.loss();
  }
}

void WorkerPeers::TakeBack(std::uint32_t index, const std::vector<WorkId>& in_flight,
                           Peer& worker) {
  std::set<WorkId> with_worker(in_flight.begin(), in_flight.end());
  std::vector<WorkId> returned;
  std::ranges::set_difference(worker.granted, with_worker, std::back_inserter(returned));
  chief_.protocol.ReturnGrants(index, returned);
  worker.granted = std::move(with_worker);
}

void WorkerPeers::AddGrants(const PollWorkerRequest& request, Peer& worker,
                            PollWorkerReply* reply) {
  const std::vector<GrantedWorkId> grants =
      limit_ == nullptr ? chief_.protocol.Grants(request.index(), request.want())
                        : limit_->Grants(chief_.protocol, request.index(), request.want());
  for (const GrantedWorkId& granted : grants) {
    Grant* grant = reply->add_grants();
    ToWire(granted.work_id, grant->mutable_work_id());
    for (const ShardId shard : granted.shards) grant->add_shards(shard);
    worker.granted.insert(granted.work_id);
    watch_.Granted(request.index(), granted.work_id);
    chief_.stats.batches_granted->Add();
  }
}

std::uint64_t WorkerPeers::MembershipNumber() const {
  return (chief_.chief_term() << 32) + chief_.protocol.membership().number;
}

void WorkerPeers::FillMembership(Membership* wire) const {
  const MembershipView& view = chief_.protocol.membership();
  wire->set_number(MembershipNumber());
  wire->set_chief_term(chief_.chief_term());
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

void WorkerPeers::Expire() {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    if (chief_.Since(worker->second.seen) <= kWorkerSilence) {
      ++worker;
      continue;
    }
    LogWarning("chief", "a worker is silent; its batches go to others",
               {{"worker", worker->first}});
    chief_.protocol.WorkerLost(worker->first, worker->second.process);
    watch_.Forget(worker->first);
    worker = workers_.erase(worker);
  }
  watch_.Check();
}

void WorkerPeers::ForgiveGap(std::chrono::nanoseconds gap) {
  const ProtocolTime now = chief_.clock.Now();
  for (auto& [index, worker] : workers_) worker.seen = std::min(worker.seen + gap, now);
}

bool WorkerPeers::AllToldEnd() const {
  return std::ranges::all_of(workers_, [](const auto& entry) { return entry.second.told_end; });
}

}  // namespace pstrain
