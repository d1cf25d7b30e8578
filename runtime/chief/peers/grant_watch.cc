#include "runtime/chief/peers/grant_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "base/text/utf8.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr seconds kLeastOverdue{15};
constexpr seconds kLeastStall{60};
constexpr seconds kDisownedPatience{5};
/// The log names a function that runs for so long, and again after each such time.
constexpr seconds kLongFunction{60};
/// Of what a worker says of ps that it does not reach: how many of them, and how much of each
/// error.
constexpr std::size_t kMostUnreachable = 16;
constexpr std::size_t kMostErrorBytes = 512;
/// A chief that was itself stopped for longer has heard nobody: that is nobody's silence.
constexpr seconds kOwnPause{5};

std::string Shortened(const std::string& text) {
  return std::string(Utf8Prefix(text, kMostErrorBytes));
}

}  // namespace

GrantWatch::GrantWatch(const ChiefDependencies& chief, PsPeers& ps,
                       std::function<void(Status)> fail)
    : chief_(chief),
      ps_(ps),
      fail_(std::move(fail)),
      overdue_limit_(std::max(chief.context.peer_timeout() / 4, kLeastOverdue)),
      stall_limit_(std::max(chief.context.peer_timeout(), kLeastStall)),
      checked_(chief.clock.Now()) {}

// Whether the time since the last Check counts is seen by the next one.
GrantWatch::AbleTime GrantWatch::AbleNow() const {
  return able_ + std::min<AbleTime>(chief_.clock.Now() - checked_, kOwnPause);
}

void GrantWatch::Polled(const PollWorkerRequest& request, const std::set<WorkId>& in_flight) {
  Worker& worker = workers_[request.index()];
  std::erase_if(worker.batches,
                [&](const auto& batch) { return !in_flight.contains(batch.first); });
  for (const WorkId work_id : in_flight) {
    worker.batches.try_emplace(work_id, InFlight{.since = AbleNow()});
  }
  worker.wants = request.want() > 0;
  HearUnreachable(request, worker);
  HearDisowned(request, worker);
}

// Also of a batch that the worker has still: another one had committed it, and a shard has lost it
// since. Overdue counts once for each grant.
void GrantWatch::Granted(std::uint32_t worker, WorkId work_id) {
  workers_[worker].batches.insert_or_assign(work_id, InFlight{.since = AbleNow()});
}

void GrantWatch::Committed(std::uint32_t worker) {
  stalled_since_ = workers_[worker].committed = AbleNow();
}

// It stays here until the worker says something else: ten thousand texts of each worker would be
// more than there is room for.
void GrantWatch::HearUnreachable(const PollWorkerRequest& request, Worker& worker) const {
  worker.unreachable.clear();
  const auto& members = chief_.protocol.membership().ps;
  for (const UnreachablePs& said : request.unreachable()) {
    if (worker.unreachable.size() == kMostUnreachable) return;
    const bool member =
        std::ranges::binary_search(members, said.ps(), {}, &MembershipView::Ps::index);
    const bool again = std::ranges::any_of(
        worker.unreachable, [&said](const UnreachablePs& ps) { return ps.ps() == said.ps(); });
    if (!member || again) continue;
    UnreachablePs& ps = worker.unreachable.emplace_back();
    ps.set_ps(said.ps());
    ps.set_milliseconds(said.milliseconds());
    ps.set_error(Shortened(said.error()));
  }
}

void GrantWatch::HearDisowned(const PollWorkerRequest& request, Worker& worker) {
  const ProtocolTime now = chief_.clock.Now();
  auto before = std::exchange(worker.disowned, {});
  for (const WireShardInTerm& wire : request.disowned()) {
    const ShardInTerm shard = FromWire(wire);
    const auto known = before.find(shard.shard);
    const bool same = known != before.end() && known->second.first == shard.term;
    const ProtocolTime since = same ? known->second.second : now;
    worker.disowned[shard.shard] = {shard.term, since};
    if (now - since >= kDisownedPatience) RegisterAgain(request.index(), shard);
  }
}

// Rule 8: what the ps has is kept under a new term, and what it lacks is restored. A ps whose
// incarnation the chief no longer knows is told so by its next heartbeat.
void GrantWatch::RegisterAgain(std::uint32_t worker, ShardInTerm shard) {
  const MembershipView& view = chief_.protocol.membership();
  if (!view.IsActive(shard)) return;
  const std::uint32_t ps = view.shards[shard.shard].ps;
  const auto owner = std::ranges::find(view.ps, ps, &MembershipView::Ps::index);
  if (owner == view.ps.end()) return;
  ps_.HaveRegisterAgain(
      ps, owner->incarnation,
      FailedPreconditionError("it refuses worker " + std::to_string(worker) + " shard " +
                              std::to_string(shard.shard) + ", which it owns"));
}

bool GrantWatch::ShareOverdue(std::uint32_t index, Worker& worker) {
  std::size_t count = 0;
  bool without_deadline = false;
  AbleTime oldest{0};
  for (auto& [work_id, in_flight] : worker.batches) {
    const auto deadline = chief_.protocol.DeadlineOf(work_id, overdue_limit_);
    if (!deadline) without_deadline = without_deadline || !chief_.protocol.Committed(work_id);
    const AbleTime since = std::max(in_flight.since, worker.committed);
    if (!deadline || in_flight.overdue || able_ - since <= *deadline) continue;
    in_flight.overdue = true;
    if (chief_.protocol.Committed(work_id)) continue;
    chief_.protocol.Overdue(index, work_id);
    chief_.stats.batches_overdue->Add();
    oldest = std::max(oldest, able_ - in_flight.since);
    ++count;
  }
  if (count > 0) LogOverdue(index, worker, count, oldest);
  if (without_deadline) SayWhatTakesLong(index, worker);
  return without_deadline && worker.unreachable.empty();
}

// The others that it has may only wait for that one.
void GrantWatch::SayWhatTakesLong(std::uint32_t index, Worker& worker) const {
  std::pair<const WorkId, InFlight>* oldest = nullptr;
  for (auto& work : worker.batches) {
    if (chief_.protocol.Committed(work.first)) continue;
    if (oldest == nullptr || work.second.since < oldest->second.since) oldest = &work;
  }
  if (oldest == nullptr) return;
  auto& [work_id, in_flight] = *oldest;
  if (able_ - in_flight.since < (in_flight.said + 1) * kLongFunction) return;
  ++in_flight.said;
  const std::uint64_t size = chief_.run.batches_per_epoch();
  const bool read_only = IsReadOnlyAttempt(work_id);
  const std::string work = read_only
                               ? NameOfReadOnly(work_id, size)
                               : "closure " + std::to_string(work_id.epoch * size + work_id.batch);
  const auto& name_of = chief_.setup.work.stops.name_of;
  LogWarning("chief", "a worker has had a call for long; others may wait for it",
             {{"worker", index},
              {"work", work},
              {"function", name_of ? name_of(work_id) : ""},
              {"seconds", InSeconds(able_ - in_flight.since)}});
}

void GrantWatch::LogOverdue(std::uint32_t index, const Worker& worker, std::size_t count,
                            AbleTime oldest) {
  std::string unreachable;
  for (const UnreachablePs& ps : worker.unreachable) {
    unreachable += (unreachable.empty() ? "ps " : ", ps ") + std::to_string(ps.ps());
  }
  LogWarning("chief", "a worker has had batches for too long; another one may have them too",
             {{"worker", index},
              {"batches", count},
              {"seconds", InSeconds(oldest)},
              {"does_not_reach", unreachable}});
}

std::string GrantWatch::WhyStalled(std::uint32_t index, const Worker& worker) const {
  const std::string name = "worker " + std::to_string(index);
  std::string text;
  for (const UnreachablePs& ps : worker.unreachable) {
    text += (text.empty() ? "" : ", ") + name + " -> ps " + std::to_string(ps.ps()) +
            " (no answer for " + WholeSeconds(std::chrono::milliseconds(ps.milliseconds())) + ": " +
            ps.error() + ")";
  }
  if (!text.empty()) return text;
  const auto open = std::ranges::find_if(worker.batches, [this](const auto& batch) {
    return !chief_.protocol.Committed(batch.first);
  });
  if (open != worker.batches.end()) {
    const WorkId work_id = open->first;
    return name + " has epoch " + std::to_string(work_id.epoch) + ", batch " +
           std::to_string(work_id.batch) + " and does not say why";
  }
  if (worker.wants) return "";
  return name + " asks for no batch, has " + std::to_string(worker.batches.size()) +
         " that others have committed and does not say why";
}

std::string GrantWatch::WhoStalls() const {
  std::string text;
  for (const auto& [index, worker] : workers_) {
    const std::string why = WhyStalled(index, worker);
    if (!why.empty()) text += (text.empty() ? "" : ", ") + why;
  }
  if (!text.empty()) return text;
  return "all workers that are there (" + std::to_string(workers_.size()) +
         ") ask for batches and have none that is open";
}

// A worker that hangs with a full window asks for nothing, also once others have committed all that
// it has: that no batch is in flight does not mean that there is nothing to do.
bool GrantWatch::Idle(bool blocked) const {
  return chief_.protocol.Progress().work_ids_in_flight == 0 &&
         (blocked || workers_.empty() || chief_.protocol.AllCommitted());
}

void GrantWatch::WarnIfNobodyAsks(std::chrono::nanoseconds stalled) {
  const bool unasked =
      stalled > overdue_limit_ && chief_.protocol.Progress().work_ids_in_flight == 0;
  if (unasked && !unasked_) {
    LogWarning("chief", "batches are open, and no worker has one of them",
               {{"seconds", InSeconds(stalled)}, {"reason", WhoStalls()}});
  }
  unasked_ = unasked;
}

void GrantWatch::Check(bool blocked, bool calls_wait) {
  const ProtocolTime now = chief_.clock.Now();
  const std::chrono::nanoseconds passed = now - std::exchange(checked_, now);
  const bool own_pause = passed > kOwnPause;
  const bool idle = Idle(blocked) && (!calls_wait || blocked || workers_.empty());
  if (own_pause || idle || !chief_.protocol.AllActive() || chief_.protocol.draining()) {
    return;
  }
  able_ += passed;
  bool takes_its_time = false;
  for (auto& [index, worker] : workers_) {
    takes_its_time = ShareOverdue(index, worker) || takes_its_time;
  }
  if (takes_its_time) stalled_since_ += std::min(passed, able_ - stalled_since_);
  const AbleTime stalled = able_ - stalled_since_;
  WarnIfNobodyAsks(stalled);
  if (stalled <= stall_limit_) return;
  fail_(DeadlineExceededError("no batch was committed for " + WholeSeconds(stalled) + ": " +
                              WhoStalls() + "; check the network between them and their logs" +
                              WithField(", or raise ", chief_.context.job.fields.peer_timeout)));
}

}  // namespace pstrain
