#include "library/coordinator/calls/read_only_calls.h"

#include <utility>

#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

/// Beside its payload, about: so that a bound of bytes is one of calls, too.
constexpr std::size_t kBytesOfCall = 512;
/// Attempts look like work ids of chunks of this size.
constexpr std::uint64_t kChunkSize = 4096;
/// How often a worker that has missed a deadline is passed over while another one is there: a few
/// seconds at most, as a worker that wants work polls at least twice a second.
constexpr int kMostPassedOver = 10;

std::size_t BytesOf(const ReadOnlyCalls::Call& call) { return kBytesOfCall + call.payload.size(); }

WorkId IdOf(std::uint64_t attempt) {
  return {kFirstReadOnlyChunk + static_cast<std::uint32_t>(attempt / kChunkSize),
          static_cast<std::uint32_t>(attempt % kChunkSize)};
}

std::uint64_t NumberOf(WorkId attempt) {
  return std::uint64_t{attempt.epoch - kFirstReadOnlyChunk} * kChunkSize + attempt.batch;
}

void SetId(WorkId work_id, WireWorkId* wire) {
  wire->set_epoch(work_id.epoch);
  wire->set_batch(work_id.batch);
}

}  // namespace

void ReadOnlyCalls::Add(Call call) {
  bytes_ += BytesOf(call);
  const std::uint64_t order = call.order;
  Pending& pending = calls_[order];
  pending = {.call = std::move(call), .phase = phase_};
  PlacesOf(pending).insert(PlaceOf(pending));
}

// Rule 1, phases. Invariant: calls of one phase are after the same work ids: a phase without calls
// that are pending goes on.
void ReadOnlyCalls::EndPhase(std::uint64_t next) {
  if (calls_.empty() || calls_.rbegin()->second.phase != phase_) return;
  holds_[phase_++] = next;
}

std::uint64_t ReadOnlyCalls::held_from() const {
  if (calls_.empty()) return kNone;
  const auto hold = holds_.find(calls_.begin()->second.phase);
  return hold == holds_.end() ? kNone : hold->second;
}

ReadOnlyCalls::Place ReadOnlyCalls::PlaceOf(const Pending& pending) {
  return {pending.phase, -std::int64_t{pending.call.schedule.priority}, pending.call.order};
}

ReadOnlyCalls::Places& ReadOnlyCalls::PlacesOf(const Pending& pending) {
  const auto& wanted = pending.call.schedule.worker;
  if (!wanted) return anybody_;
  const auto worker = static_cast<std::uint32_t>(*wanted);
  return registered_.contains(worker) ? kept_[worker] : anybody_;
}

void ReadOnlyCalls::Close(const Pending& pending) {
  Places& places = PlacesOf(pending);
  places.erase(PlaceOf(pending));
  if (places.empty() && &places != &anybody_)
    kept_.erase(static_cast<std::uint32_t>(*pending.call.schedule.worker));
}

void ReadOnlyCalls::Reopen(Pending& pending) {
  pending.attempt.reset();
  if (pending.stops) return stopped_.push_back(pending.call.order);
  PlacesOf(pending).insert(PlaceOf(pending));
}

bool ReadOnlyCalls::InFirstPhase(const Places& places) const {
  return !places.empty() && places.begin()->phase == calls_.begin()->second.phase;
}

bool ReadOnlyCalls::MayBegin(const std::function<bool(WorkId after)>& may_begin) const {
  return !calls_.empty() && may_begin(calls_.begin()->second.call.after);
}

bool ReadOnlyCalls::PassesOver(std::uint32_t worker, Pending& pending) const {
  const bool kept = pending.call.schedule.worker == worker;
  const bool was_here = !pending.missed_on.empty() && pending.missed_on.back() == worker;
  if (!was_here || kept || registered_.size() < 2) return false;
  return ++pending.passed_over <= kMostPassedOver;
}

// Rule 1. Invariant: an attempt has a number that none before had, so that a report of an attempt
// that was lost, which comes late or again, ends nothing.
void ReadOnlyCalls::Give(std::uint32_t worker, Pending& pending, std::vector<Grant>* grants) {
  Close(pending);
  pending.attempt = next_attempt_++;
  attempts_[*pending.attempt] = {pending.call.order, worker};
  Grant& grant = grants->emplace_back();
  SetId(IdOf(*pending.attempt), grant.mutable_work_id());
  grant.set_kind(kReadOnlyWork);
  grant.set_payload(pending.call.payload);
  if (pending.call.after != WorkId{}) SetId(pending.call.after, grant.mutable_after());
  if (pending.call.deadline)
    grant.set_deadline_ms(static_cast<std::uint64_t>(pending.call.deadline->count()));
}

// Rule 1, phases. Invariant: nothing is given of a phase while a call of an earlier one has not
// ended.
std::vector<Grant> ReadOnlyCalls::Grants(std::uint32_t worker, std::size_t want,
                                         const std::function<bool(WorkId after)>& may_begin) {
  std::vector<Grant> grants;
  if (want == 0 || !MayBegin(may_begin)) return grants;
  const std::uint64_t phase = calls_.begin()->second.phase;
  const auto own = kept_.find(worker);
  auto any = anybody_.begin();
  auto mine = own == kept_.end() ? anybody_.end() : own->second.begin();
  std::vector<std::uint64_t> given;
  while (given.size() < want) {
    const bool has_any = any != anybody_.end() && any->phase == phase;
    const bool has_mine = own != kept_.end() && mine != own->second.end() && mine->phase == phase;
    if (!has_any && !has_mine) break;
    auto& next = has_mine && (!has_any || *mine < *any) ? mine : any;
    const std::uint64_t order = next->order;
    ++next;
    if (!PassesOver(worker, calls_.at(order))) given.push_back(order);
  }
  for (const std::uint64_t order : given) Give(worker, calls_.at(order), &grants);
  return grants;
}

const ReadOnlyCalls::Call* ReadOnlyCalls::Find(WorkId attempt) const {
  const auto found = attempts_.find(NumberOf(attempt));
  return found == attempts_.end() ? nullptr : &calls_.at(found->second.order).call;
}

ReadOnlyCalls::Call ReadOnlyCalls::Forget(std::uint64_t order) {
  const auto pending = calls_.extract(order);
  bytes_ -= BytesOf(pending.mapped().call);
  if (calls_.empty()) {
    holds_.clear();
  } else {
    holds_.erase(holds_.begin(), holds_.lower_bound(calls_.begin()->second.phase));
  }
  return std::move(pending.mapped().call);
}

std::vector<ReadOnlyCalls::Call> ReadOnlyCalls::Forget(const std::vector<std::uint64_t>& orders) {
  std::vector<Call> calls;
  calls.reserve(orders.size());
  for (const std::uint64_t order : orders) calls.push_back(Forget(order));
  return calls;
}

ReadOnlyCalls::Call ReadOnlyCalls::Take(WorkId attempt) {
  return Forget(attempts_.extract(NumberOf(attempt)).mapped().order);
}

void ReadOnlyCalls::Return(WorkId attempt) {
  const auto found = attempts_.extract(NumberOf(attempt));
  if (found) Reopen(calls_.at(found.mapped().order));
}

Status ReadOnlyCalls::Missed(WorkId attempt) {
  const Attempt missed = attempts_.at(NumberOf(attempt));
  Pending& pending = calls_.at(missed.order);
  pending.missed_on.push_back(missed.worker);
  if (pending.missed_on.size() == MissedCalls::kMostAttempts) {
    return MissedCalls::ErrorOn(pending.missed_on, pending.call.function,
                                pending.call.deadline.value_or(std::chrono::milliseconds(0)));
  }
  pending.passed_over = 0;
  Return(attempt);
  return OkStatus();
}

// Rule 6. Invariant: nothing is with a worker that is not there, nor kept for one.
void ReadOnlyCalls::SetRegistered(std::uint32_t worker, bool registered) {
  if (registered_.contains(worker) == registered) return;
  if (!registered) {
    registered_.erase(worker);
    if (auto kept = kept_.extract(worker)) anybody_.merge(kept.mapped());
    std::vector<WorkId> lost;
    for (const auto& [number, attempt] : attempts_) {
      if (attempt.worker == worker) lost.push_back(IdOf(number));
    }
    for (const WorkId attempt : lost) Return(attempt);
    return;
  }
  registered_.insert(worker);
  Places kept;
  for (const Place& place : anybody_) {
    if (calls_.at(place.order).call.schedule.worker == worker) kept.insert(place);
  }
  for (const Place& place : kept) anybody_.erase(place);
  if (!kept.empty()) kept_[worker] = std::move(kept);
}

std::vector<ReadOnlyCalls::Call> ReadOnlyCalls::TakeOpen() {
  std::vector<std::uint64_t> open;
  for (const auto& [order, pending] : calls_) {
    if (!pending.attempt) open.push_back(order);
  }
  anybody_.clear();
  kept_.clear();
  stopped_.clear();
  return Forget(open);
}

// Invariant: a call that is to stop is with the worker that has it, or ends: it is granted no more.
std::vector<WorkId> ReadOnlyCalls::StopRunning() {
  std::vector<WorkId> running;
  for (const auto& [number, attempt] : attempts_) {
    calls_.at(attempt.order).stops = true;
    running.push_back(IdOf(number));
  }
  return running;
}

std::vector<ReadOnlyCalls::Call> ReadOnlyCalls::TakeStopped() {
  return Forget(std::exchange(stopped_, {}));
}

std::vector<ReadOnlyCalls::Call> ReadOnlyCalls::TakeAll() {
  attempts_.clear();
  for (auto& [order, pending] : calls_) pending.attempt.reset();
  return TakeOpen();
}

std::uint64_t ReadOnlyCalls::Open(const std::function<bool(WorkId after)>& may_begin) const {
  return MayBegin(may_begin) && InFirstPhase(anybody_) ? anybody_.size() : 0;
}

bool ReadOnlyCalls::OpenFor(std::uint32_t worker,
                            const std::function<bool(WorkId after)>& may_begin) const {
  const auto own = kept_.find(worker);
  return own != kept_.end() && MayBegin(may_begin) && InFirstPhase(own->second);
}

}  // namespace pstrain
