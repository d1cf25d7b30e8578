// The part of ClosureQueue that hears of attempts that workers have given up, and says which
// functions are to stop (docs/design/hung-functions.md).
#include <chrono>
#include <iterator>
#include <string>

#include "base/log.h"
#include "library/coordinator/closure_queue.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {

// Rules 4 and 6. Of that attempt nothing is on any shard, nor will be; of an attempt whose worker
// was lost something may be. Invariant: one that may be is not voided here: after the last attempt
// it is left out where it is lacking (kLostWork), and what shards say then decides.
ChiefJob::Heard ClosureQueue::Missed(WorkId work_id, std::uint32_t worker,
                                     const CommitProtocol& protocol) {
  const Id id = source_->Number(work_id);
  const MutexLock lock(mutex_);
  const auto found = pending_.find(id);
  const std::uint32_t kind = source_->KindOf(work_id);
  // Nobody runs it any more: what another attempt has come to is pushed, or it is left out.
  if (prepared_.Find(id) != nullptr || kind == kLostWork) return {};
  if (stops_.erase(work_id) > 0 && found != pending_.end() && !MayBeOnAShard(id, found->second)) {
    source_->Void(work_id);
    found->second.voided = true;
    return {};
  }
  if (kind != kClosureWork || found == pending_.end() || repairs_.Has(id)) {
    return RepairFailed(id, kind,
                        DeadlineExceededError("the function had not returned after its deadline"));
  }
  const bool last = missed_.Missed(id, worker);
  if (last) {
    source_->Lose(work_id);
  } else if (!protocol.Begun(work_id)) {
    source_->SetAside(work_id, worker);
  }
  LogWarning("coordinator",
             last ? "a function has missed its deadline for the last time; its call is an error"
                  : "a function has missed its deadline; its call runs again",
             {{"work", "closure " + std::to_string(id)},
              {"function", found->second.name},
              {"worker", worker},
              {"deadline_seconds", std::chrono::duration<double>(found->second.deadline).count()}});
  return {};
}

// Of what was begun when an error voided the rest. Invariant: what a shard may have is not voided,
// and nobody is told to stop it.
void ClosureQueue::VoidStopped(const CommitProtocol& protocol) {
  VoidReadOnly(read_only_.TakeStopped());
  for (auto next = stops_.begin(); next != stops_.end();) {
    const WorkId work_id = next->first;
    if (IsReadOnlyAttempt(work_id)) {
      next = read_only_.Find(work_id) != nullptr ? std::next(next) : stops_.erase(next);
      continue;
    }
    const Id id = source_->Number(work_id);
    const auto found = pending_.find(id);
    const bool runs_on = found == pending_.end() || MayBeOnAShard(id, found->second);
    if (!runs_on && protocol.Begun(work_id)) {
      ++next;
      continue;
    }
    if (!runs_on) {
      source_->Void(work_id);
      found->second.voided = true;
    }
    next = stops_.erase(next);
  }
}

bool ClosureQueue::MayBeOnAShard(Id id, const Pending& pending) const {
  const std::uint32_t kind = source_->KindOf(ClosureSource::IdOf(id));
  return pending.result || repairs_.Has(id) || prepared_.Find(id) != nullptr ||
         kind != kClosureWork;
}

ChiefJob::Work::Stops::Told ClosureQueue::TellStops(const std::set<WorkId>& in_flight,
                                                    ProtocolTime now,
                                                    const CommitProtocol& protocol) {
  const MutexLock lock(mutex_);
  for (const Id id : missed_.Waited(now)) source_->EndAside(ClosureSource::IdOf(id));
  VoidStopped(protocol);
  ChiefJob::Work::Stops::Told told;
  for (auto& [work_id, since] : stops_) {
    if (!since) since = now;
    if (!in_flight.contains(work_id)) continue;
    const bool late = options_ && now - *since >= options_->cancel_timeout;
    (late ? told.give_up : told.stop).push_back(work_id);
  }
  return told;
}

std::string ClosureQueue::NameOf(WorkId work_id) const {
  const MutexLock lock(mutex_);
  if (IsReadOnlyAttempt(work_id)) {
    const ReadOnlyCalls::Call* const call = read_only_.Find(work_id);
    return call == nullptr ? std::string() : call->function;
  }
  const auto found = pending_.find(source_->Number(work_id));
  return found == pending_.end() ? std::string() : found->second.name;
}

}  // namespace pstrain
