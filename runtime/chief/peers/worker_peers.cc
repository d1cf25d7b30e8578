#include "runtime/chief/peers/worker_peers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

/// A worker polls at least every 500 ms.
constexpr std::chrono::seconds kWorkerSilence{10};
/// Weight of the newest loss in the mean.
constexpr double kNewestLoss = 0.02;
/// Of lost workers in one message.
constexpr std::size_t kMostNamed = 16;

}  // namespace

Status WorkerPeers::CheckAttempt(const PollWorkerRequest& request, std::string_view from) const {
  Status late = attempts_.Check(request.index(), request.attempt(), chief_.clock.Now());
  if (!late.ok()) chief_.refusals.Count(RefusalReason::kOutOfRange, from, late);
  return late;
}

Status WorkerPeers::CheckChief(const PollWorkerRequest& request) {
  const std::uint64_t other = request.chief_id_seen();
  const bool of_this_term = request.chief_term_seen() == chief_.chief_term();
  if (!of_this_term || other == 0 || other == chief_.setup.directory.term().id) return OkStatus();
  if (!std::exchange(superseded_, true)) {
    LogWarning("chief", "a worker has heard another chief of this chief's term",
               {{"worker", request.index()}, {"chief_term", chief_.chief_term()}});
  }
  return UnavailableError("two chiefs have taken term " + std::to_string(chief_.chief_term()) +
                          ", and this one ends");
}

bool WorkerPeers::Knows(const PollWorkerRequest& request) const {
  const auto newest = newest_poll_.find(request.index());
  return newest != newest_poll_.end() && newest->second.first == request.process();
}

PollWorkerReply WorkerPeers::Poll(const PollWorkerRequest& request, const RunPhase& phase,
                                  std::string_view from) {
  PollWorkerReply reply;
  reply.set_chief_term(chief_.chief_term());
  reply.set_chief_id(chief_.setup.directory.term().id);
  if (!InOrder(request)) {
    reply.set_sequence(newest_poll_.at(request.index()).second);
    reply.set_directive(WAIT);
    return reply;
  }
  const std::vector<WorkId> in_flight = InFlight(request);
  Peer* worker = Admit(request, in_flight);
  if (worker == nullptr) {
    reply.set_directive(REPLACED);
    return reply;
  }
  newest_poll_[request.index()] = {request.process(), request.sequence()};
  reply.set_sequence(request.sequence());
  worker->seen = chief_.clock.Now();
  AbsorbReports(request, from, *worker);
  AbsorbPrepared(request, from, *worker, &reply);
  TakeBack(request.index(), in_flight, from, *worker);
  TellStops(*worker, &reply);
  watch_.Polled(request, worker->granted_work.in_flight());
  if (request.chief_term_seen() == 0 || request.generation_seen() < chief_.run.generation()) {
    *reply.mutable_run() = chief_.run;
  }
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
      Forget(workers_.find(request.index()), true);
    }
    return reply;
  }
  if (!phase.grants_wait) AddGrants(request, *worker, &reply);
  if (reply.grants().empty()) reply.set_directive(WAIT);
  return reply;
}

// What a former chief has granted of a program is void: the worker drops it with the answer to its
// first poll, and nobody adopts it.
std::vector<WorkId> WorkerPeers::InFlight(const PollWorkerRequest& request) const {
  const bool knows = request.chief_term_seen() == chief_.chief_term();
  std::vector<WorkId> in_flight;
  for (const WireWorkId& wire : request.in_flight()) {
    const WorkId work_id = FromWire(wire);
    if (knows || read_only_.TermOf(work_id) == 0) in_flight.push_back(work_id);
  }
  return in_flight;
}

// Of another process than the last: Admit decides which of the two is the older.
bool WorkerPeers::InOrder(const PollWorkerRequest& request) const {
  return !Knows(request) || newest_poll_.at(request.index()).second < request.sequence();
}

WorkerPeers::Peer* WorkerPeers::Admit(const PollWorkerRequest& request,
                                      const std::vector<WorkId>& in_flight) {
  const auto known = workers_.find(request.index());
  if (known != workers_.end() && known->second.process == request.process()) return &known->second;
  const PeerProcess process{request.process(), request.attempt()};
  GrantedWork granted_work = GrantedWorkOf(request, in_flight);
  std::vector<WorkId> granted;
  std::ranges::copy_if(in_flight, std::back_inserter(granted),
                       [&granted_work](WorkId work_id) { return granted_work.MayReport(work_id); });
  if (!chief_.protocol.WorkerSeen(request.index(), process, granted)) return nullptr;
  if (known != workers_.end()) chief_.stats.worker_recoveries->Add();
  attempts_.Take(request.index(), request.attempt(), chief_.clock.Now());
  former_.erase(request.index());
  // How long the former process has had a batch is not this one's matter.
  watch_.Forget(request.index());
  read_only_.Begin(request.index());
  Peer& worker = workers_[request.index()];
  worker = {.process = request.process(), .granted_work = std::move(granted_work)};
  return &worker;
}

// The first chief of a run knows all that was ever granted. A later one does not: it takes a
// worker's word for what the former one granted, once, when the process comes to it. The terms of
// the reports prove what was applied (rule 4).
GrantedWork WorkerPeers::GrantedWorkOf(const PollWorkerRequest& request,
                                       const std::vector<WorkId>& in_flight) {
  const auto former = former_.find(request.index());
  if (former != former_.end() && former->second.process == request.process()) {
    return std::move(former->second.granted_work);
  }
  GrantedWork granted_work;
  if (chief_.chief_term() == 1) return granted_work;
  for (const WorkId work_id : in_flight) granted_work.Grant(work_id);
  for (const Report& report : request.reports()) {
    if (report.chief_term() == 0) granted_work.Grant(FromWire(report.work_id()));
  }
  return granted_work;
}

void WorkerPeers::Forget(std::map<std::uint32_t, Peer>::iterator worker, bool left) {
  watch_.Forget(worker->first);
  read_only_.SetRegistered(worker->first, false);
  Peer& peer = worker->second;
  former_[worker->first] = {peer.process, std::move(peer.granted_work), peer.seen, left};
  workers_.erase(worker);
}

std::string WorkerPeers::Lost() const {
  std::string text;
  std::size_t named = 0;
  for (const auto& [index, former] : former_) {
    if (named++ == kMostNamed) {
      return text + " and " + std::to_string(former_.size() - kMostNamed) + " more";
    }
    const std::string silent = WholeSeconds(chief_.Since(former.seen));
    const std::string worker = "worker " + std::to_string(index);
    text +=
        (text.empty() ? "" : ", ") + worker +
        (former.left ? " has left " + silent + " ago" : " -> chief: nothing heard for " + silent);
  }
  return text;
}

void WorkerPeers::AbsorbReports(const PollWorkerRequest& request, std::string_view from,
                                Peer& worker) {
  if (request.reports_size() > 0) worker.granted_work.BeginReports();
  const std::uint32_t shards = chief_.setup.run.shards();
  for (const Report& report : request.reports()) {
    const WorkId work_id = FromWire(report.work_id());
    const bool void_now = report.chief_term() != read_only_.TermOf(work_id);
    // The worker has not heard of this chief yet.
    if (void_now && report.chief_term() == request.chief_term_seen()) continue;
    if (void_now || !worker.granted_work.MayReport(work_id)) {
      chief_.refusals.Count(
          RefusalReason::kNotGranted, from,
          FailedPreconditionError("worker " + std::to_string(request.index()) +
                                  " reports a batch that it was not granted: epoch " +
                                  std::to_string(work_id.epoch) + ", batch " +
                                  std::to_string(work_id.batch)));
      continue;
    }
    if (report.membership() > MembershipNumber()) {
      chief_.refusals.Count(
          RefusalReason::kOutOfRange, from,
          OutOfRangeError("worker " + std::to_string(request.index()) +
                          " reports under membership " + std::to_string(report.membership()) +
                          ", and the newest is " + std::to_string(MembershipNumber())));
      continue;
    }
    if (read_only_.Absorb(request.index(), report, &worker.granted_work, &watch_)) continue;
    if (report.missed()) {
      HearMissed(request.index(), work_id, worker);
      continue;
    }
    if (Overruled(report)) {
      worker.granted_work.Reported(work_id);
      chief_.protocol.ReturnGrants(request.index(), {work_id});
      continue;
    }
    const ReportResult result = chief_.protocol.Report(
        request.index(), work_id, {report.membership(), FromWire(report.shards(), shards)},
        FromWire(report.early(), shards));
    for (const ShardId shard : result.asked) {
      LogWarning("chief",
                 "a shard lacks work that was reported as applied; it is asked what it has",
                 {{"shard", shard}, {"worker", request.index()}});
    }
    worker.granted_work.Reported(work_id);
    const bool committed = result.outcome == ReportResult::Outcome::kCommitted;
    if (committed || result.outcome == ReportResult::Outcome::kOpen)
      TellOfReport(work_id, report, committed);
    if (!committed) continue;
    chief_.context.fail_points.Pass(FailPoint::kChiefReportCounted);
    chief_.stats.commits_counted->Add();
    watch_.Committed(request.index());
    // A batch that was left out has none, and a mean with one that is no number stays none.
    if (!report.has_loss() || !std::isfinite(report.loss())) continue;
    loss_ = loss_ ? (1 - kNewestLoss) * *loss_ + kNewestLoss * report.loss() : report.loss();
  }
}

void WorkerPeers::TellOfReport(WorkId work_id, const Report& report, bool committed) {
  if (!chief_.setup.work.reported) return;
  Heed(chief_.setup.work.reported(work_id, report, committed, chief_.protocol));
}

// As far as the chief knows: those of the others that have left it out stay so.
void WorkerPeers::LogLost(const GrantedWorkId& granted) const {
  std::vector<ShardId> shards = granted.shards;
  if (shards.empty()) {
    shards.resize(chief_.setup.run.shards());
    std::iota(shards.begin(), shards.end(), ShardId{0});
  }
  std::string names;
  for (std::size_t i = 0; i < shards.size() && i < kMostNamed; ++i) {
    names += (i == 0 ? "shard " : ", shard ") + std::to_string(shards[i]) + " of ps " +
             std::to_string(chief_.protocol.membership().shards[shards[i]].ps);
  }
  if (shards.size() > kMostNamed)
    names += " and " + std::to_string(shards.size() - kMostNamed) + " more";
  const std::uint64_t number =
      std::uint64_t{granted.work_id.epoch} * chief_.setup.run.batches_per_epoch() +
      granted.work_id.batch;
  LogWarning("chief", "shards that lack the update of a call go without it",
             {{"work", "closure " + std::to_string(number)}, {"shards", names}});
}

const std::string* WorkerPeers::PreparedOf(WorkId work_id) const {
  const auto& find = chief_.setup.work.prepared.find;
  return find ? find(work_id) : nullptr;
}

// Another attempt has been lost, or was taken for lost, after it had prepared. Shards on which the
// failed one has left the call out take its changes (docs/design/left-out.md).
bool WorkerPeers::Overruled(const Report& report) const {
  return report.has_error() && PreparedOf(FromWire(report.work_id())) != nullptr;
}

// Invariant: a worker pushes what it has prepared only after an answer that does not name it, and
// whoever prepares that work id later is answered with the same. So who may not prepare it is
// answered too, and gives it back.
void WorkerPeers::AbsorbPrepared(const PollWorkerRequest& request, std::string_view from,
                                 const Peer& worker, PollWorkerReply* reply) {
  for (const PreparedCall& call : request.prepared()) {
    const WorkId work_id = FromWire(call.work_id());
    const bool of_this_chief = call.chief_term() == chief_.chief_term();
    // The worker has not heard of this chief yet, and drops it with this answer.
    if (!of_this_chief && call.chief_term() == request.chief_term_seen()) continue;
    const auto& keep = chief_.setup.work.prepared.keep;
    const bool of_program = chief_.protocol.GrantTerm(work_id) == call.chief_term();
    std::optional<std::string> instead = "";
    if (!of_this_chief || !of_program || !worker.granted_work.MayReport(work_id)) {
      chief_.refusals.Count(
          RefusalReason::kNotGranted, from,
          FailedPreconditionError("worker " + std::to_string(request.index()) +
                                  " prepares a call that it was not granted: epoch " +
                                  std::to_string(work_id.epoch) + ", batch " +
                                  std::to_string(work_id.batch)));
    } else if (keep) {
      instead = keep(work_id, call.outcome(), chief_.protocol);
    }
    if (!instead) continue;
    PreparedCall* const answer = reply->add_prepared();
    *answer->mutable_work_id() = call.work_id();
    answer->set_chief_term(call.chief_term());
    answer->set_outcome(*std::move(instead));
  }
}

void WorkerPeers::TakeBack(std::uint32_t index, const std::vector<WorkId>& in_flight,
                           std::string_view from, Peer& worker) {
  const GrantedWork::Change change = worker.granted_work.Keep(in_flight);
  chief_.protocol.ReturnGrants(index, change.returned);
  read_only_.Return(change.returned);
  if (change.unknown.empty()) return;
  chief_.refusals.Count(RefusalReason::kNotGranted, from,
                        FailedPreconditionError("worker " + std::to_string(index) + " names " +
                                                std::to_string(change.unknown.size()) +
                                                " batches in flight that it was not granted"));
}

void WorkerPeers::AddGrants(const PollWorkerRequest& request, Peer& worker,
                            PollWorkerReply* reply) {
  const std::uint32_t most = std::min(request.want(), kMostInFlight);
  read_only_.Add(request.index(), read_only_.ShareOf(most), &worker.granted_work, reply);
  const auto want = most - static_cast<std::uint32_t>(reply->grants_size());
  const std::vector<GrantedWorkId> grants =
      limit_ == nullptr ? chief_.protocol.Grants(request.index(), want)
                        : limit_->Grants(chief_.protocol, request.index(), want);
  for (const GrantedWorkId& granted : grants) {
    Grant* grant = reply->add_grants();
    ToWire(granted.work_id, grant->mutable_work_id());
    for (const ShardId shard : granted.shards) grant->add_shards(shard);
    grant->set_kind(granted.content.kind);
    grant->set_payload(granted.content.payload);
    grant->set_deadline_ms(static_cast<std::uint64_t>(granted.content.deadline.count()));
    if (granted.after != WorkId{}) ToWire(granted.after, grant->mutable_after());
    grant->set_chief_term(chief_.protocol.GrantTerm(granted.work_id));
    if (granted.content.kind == kLostWork) LogLost(granted);
    if (const std::string* prepared = PreparedOf(granted.work_id)) grant->set_prepared(*prepared);
    worker.granted_work.Grant(granted.work_id);
    watch_.Granted(request.index(), granted.work_id);
    chief_.stats.batches_granted->Add();
  }
  read_only_.Add(request.index(), most - static_cast<std::uint32_t>(reply->grants_size()),
                 &worker.granted_work, reply);
}

std::uint64_t WorkerPeers::MembershipNumber() const {
  return chief_.protocol.membership().published_number();
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

void WorkerPeers::Expire(bool grants_wait) {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    if (chief_.Since(worker->second.seen) <= kWorkerSilence) {
      ++worker;
      continue;
    }
    LogWarning(
        "chief", "a worker is silent; its batches go to others",
        {{"worker", worker->first}, {"seconds", InSeconds(chief_.Since(worker->second.seen))}});
    chief_.protocol.WorkerLost(worker->first, worker->second.process);
    Forget(worker++, false);
  }
  watch_.Check(grants_wait || (limit_ != nullptr && limit_->Blocks(chief_.protocol)),
               !read_only_.done());
}

void WorkerPeers::ForgiveGap(std::chrono::nanoseconds gap) {
  for (auto& [index, worker] : workers_) worker.seen = chief_.Forgiven(worker.seen, gap);
  for (auto& [index, former] : former_) former.seen = chief_.Forgiven(former.seen, gap);
}

bool WorkerPeers::AllToldEnd() const {
  return std::ranges::all_of(workers_, [](const auto& entry) { return entry.second.told_end; });
}

}  // namespace pstrain
