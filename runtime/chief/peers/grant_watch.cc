#include "runtime/chief/peers/grant_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr seconds kLeastOverdue{15};
constexpr seconds kLeastStall{60};
constexpr seconds kDisownedPatience{5};
/// A chief that was itself stopped for longer has heard nobody: that is nobody's silence.
constexpr seconds kOwnPause{5};

seconds PeerTimeout(const ChiefDependencies& chief) {
  return seconds(chief.context.training().peer_timeout_seconds());
}

std::string Seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<seconds>(time).count()) + " s";
}

}  // namespace

GrantWatch::GrantWatch(const ChiefDependencies& chief, std::function<void(Status)> fail)
    : chief_(chief),
      fail_(std::move(fail)),
      overdue_limit_(std::max(PeerTimeout(chief) / 4, kLeastOverdue)),
      stall_limit_(std::max(PeerTimeout(chief), kLeastStall)),
      able_since_(chief.clock.Now()),
      checked_(able_since_) {}

void GrantWatch::Polled(const PollWorkerRequest& request, const std::set<WorkId>& in_flight) {
  Worker& worker = workers_[request.index()];
  std::erase_if(worker.batches, [&](const auto& held) { return !in_flight.contains(held.first); });
  for (const WorkId work_id : in_flight) Granted(request.index(), work_id);
  worker.unreachable = {request.unreachable().begin(), request.unreachable().end()};
  HearDisowned(request, worker);
}

void GrantWatch::Granted(std::uint32_t worker, WorkId work_id) {
  workers_[worker].batches.try_emplace(work_id, Held{chief_.clock.Now(), false});
}

void GrantWatch::Committed(std::uint32_t worker) {
  committed_ = workers_[worker].committed = chief_.clock.Now();
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
  if (shard.shard >= view.shards.size()) return;
  const MembershipView::Shard owned = view.shards[shard.shard];
  if (!owned.active || owned.term != shard.term) return;
  const auto owner = std::ranges::find(view.ps, owned.ps, &MembershipView::Ps::index);
  if (owner == view.ps.end()) return;
  LogWarning("chief", "a ps refuses a shard that it owns, and has to register again",
             {{"ps", owned.ps}, {"shard", shard.shard}, {"worker", worker}});
  chief_.protocol.PsLost(owned.ps, owner->incarnation);
}

void GrantWatch::ShareOverdue(std::uint32_t index, Worker& worker, ProtocolTime now) {
  std::size_t count = 0;
  std::chrono::nanoseconds oldest{0};
  for (auto& [work_id, held] : worker.batches) {
    const ProtocolTime since = std::max({held.since, worker.committed, able_since_});
    if (held.overdue || now - since <= overdue_limit_) continue;
    held.overdue = true;
    if (chief_.protocol.Committed(work_id)) continue;
    chief_.protocol.Overdue(index, work_id);
    chief_.stats.batches_overdue->Add();
    oldest = std::max(oldest, now - held.since);
    ++count;
  }
  if (count == 0) return;
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

std::string GrantWatch::Pairs() const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [index, worker] : workers_) {
    const std::string name = "worker " + std::to_string(index);
    for (const UnreachablePs& ps : worker.unreachable) {
      add(name + " -> ps " + std::to_string(ps.ps()) + " (no answer for " +
          Seconds(std::chrono::milliseconds(ps.milliseconds())) + ": " + ps.error() + ")");
    }
    const auto open = std::ranges::find_if(worker.batches, [this](const auto& held) {
      return !chief_.protocol.Committed(held.first);
    });
    if (!worker.unreachable.empty() || open == worker.batches.end()) continue;
    const WorkId work_id = open->first;
    add(name + " has epoch " + std::to_string(work_id.epoch) + ", batch " +
        std::to_string(work_id.batch) + " and does not say why");
  }
  return text;
}

void GrantWatch::Check() {
  const ProtocolTime now = chief_.clock.Now();
  const bool own_pause = now - std::exchange(checked_, now) > kOwnPause;
  const bool idle = chief_.protocol.Progress().work_ids_in_flight == 0;
  if (own_pause || idle || !chief_.protocol.AllActive() || chief_.protocol.draining()) {
    able_since_ = now;
    return;
  }
  for (auto& [index, worker] : workers_) ShareOverdue(index, worker, now);
  const std::chrono::nanoseconds stalled = now - std::max(committed_, able_since_);
  if (stalled <= stall_limit_) return;
  fail_(DeadlineExceededError("no batch was committed for " + Seconds(stalled) + ": " + Pairs() +
                              "; see to the network between them and to their logs, or raise "
                              "spec.training.peerTimeoutSeconds"));
}

}  // namespace pstrain
