#include "runtime/chief/protocol/closure_source.h"

#include <algorithm>
#include <utility>

namespace pstrain {

// Rule 8, of a program. Invariant: shards begin with a mark that has all below; one that lacks some
// answers early, as they are of a phase of their own.
void ClosureSource::BeginAt(std::uint64_t first) {
  first_ = kept_from_ = first;
  records_ = static_cast<std::int64_t>(first);
  if (first > 0) phases_.push_back(first);
  next_ = first;
}

// Rule 1. Invariant: work ids are numbered in the order of their adding, without gaps. A thousand
// equal calls are kept once.
WorkId ClosureSource::Add(std::uint32_t records, WorkContent content,
                          const WorkPreference& preference) {
  Closure closure{.records = records, .kind = content.kind, .content = nullptr};
  if (!closures_.empty() && *closures_.back().content == content) {
    closure.content = closures_.back().content;
  } else {
    payloads_added_ += content.payload.size();
    closure.content = std::make_shared<const WorkContent>(std::move(content));
  }
  closure.payloads = payloads_added_;
  closures_.push_back(std::move(closure));
  records_ += records;
  const std::uint64_t number = end() - 1;
  if (preference != WorkPreference{}) {
    preferences_[number] = preference;
    Put(number, preference);
  }
  return IdOf(number);
}

// Rule 1. Invariant: phases_ ascends, and no phase is empty but perhaps the last.
void ClosureSource::EndPhase() {
  const std::uint64_t first = end();
  if (first > 0 && (phases_.empty() || phases_.back() < first)) phases_.push_back(first);
}

// Rule 1. Invariant: a work id stays where it is, in its phase and in the order, whatever it
// becomes (SetKind); and its payload stays, for a shard that has it already, or lacks it again.
WorkContent ClosureSource::ContentOf(WorkId work_id) const {
  const Closure& closure = Of(work_id);
  WorkContent content = *closure.content;
  content.kind = closure.kind;
  return content;
}

// Rules 5 and 7: what a shard may never lack again is never done again. Invariant: After is right
// for all that is kept, so that phases_ still has the one that the first of it is of.
void ClosureSource::Forget(std::uint64_t number) {
  number = std::min(number, end());
  if (number <= kept_from_) return;
  for (; kept_from_ < number; ++kept_from_) {
    if (!preferences_.empty()) preferences_.erase(kept_from_);
    payloads_forgotten_ = closures_.front().payloads;
    closures_.pop_front();
    // The next one shares its payload: that is still kept.
    if (!closures_.empty() && closures_.front().payloads == payloads_forgotten_)
      payloads_forgotten_ -= closures_.front().content->payload.size();
  }
  while (phases_.size() > 1 && phases_[1] <= kept_from_) phases_.pop_front();
  next_ = std::max(next_, kept_from_);
  if (made_room_ != nullptr) made_room_();
}

std::size_t ClosureSource::KeptBelow(std::uint64_t number) const {
  if (number <= kept_from_) return 0;
  const std::size_t count = number - kept_from_;
  return count * sizeof(Closure) + (closures_[count - 1].payloads - payloads_forgotten_);
}

// Rule 1. Invariant: every work id lies in a chunk below this, and only the last one may have room.
std::uint32_t ClosureSource::chunks() const {
  return static_cast<std::uint32_t>((end() + kChunkSize - 1) / kChunkSize);
}

// Rule 1: the first work id of its own phase; {0, 0} for those of the first phase. Invariant: what
// is added later never makes a work id wait for more.
WorkId ClosureSource::After(WorkId work_id) const {
  const auto next = std::ranges::upper_bound(phases_, Number(work_id));
  return next == phases_.begin() ? WorkId{} : IdOf(*(next - 1));
}

// Rule 1. Invariant: what is passed over unseen is committed, or has a preference. A chunk that is
// not full is never passed over whole, because work may still be added to it.
std::optional<std::uint64_t> ClosureSource::NextPlain(const Whole& whole) {
  while (next_ < end()) {
    const WorkId work_id = IdOf(next_);
    if (work_id.batch == 0 && end() - next_ >= kChunkSize && whole(work_id.epoch)) {
      next_ += kChunkSize;
    } else if (!preferences_.empty() && preferences_.contains(next_)) {
      ++next_;
    } else {
      return next_;
    }
  }
  return std::nullopt;
}

// Rules 1 and 6. Invariant: what one worker is not to have is nobody's loss: it may when it is
// alone.
std::optional<ClosureSource::Place> ClosureSource::FirstFor(std::uint32_t worker) const {
  for (const Place& place : anybody_) {
    if (aside_count_ == 0 || registered_.size() < 2) return place;
    if (preferences_.at(place.number).not_on != worker) return place;
  }
  return std::nullopt;
}

// Rule 1. Invariant: of what the worker may have, nothing is named before all of earlier phases,
// nor within a phase before what is more urgent.
std::optional<WorkId> ClosureSource::Next(std::uint32_t worker, const Whole& whole) {
  const std::optional<std::uint64_t> plain = NextPlain(whole);
  const auto own = kept_.find(worker);
  std::optional<Place> first = FirstFor(worker);
  if (own != kept_.end() && (!first || *own->second.begin() < *first)) first = *own->second.begin();
  if (first && !(plain && PlaceOf(*plain, 0) < *first)) {
    const WorkId work_id = IdOf(first->number);
    Taken(work_id);
    return work_id;
  }
  if (!plain) return std::nullopt;
  ++next_;
  return IdOf(*plain);
}

// Rule 7. Invariant: nothing open is below next_ but what has a preference, which is put where it
// was.
void ClosureSource::Rewind(WorkId work_id) {
  const std::uint64_t number = Number(work_id);
  const auto found = preferences_.find(number);
  if (found == preferences_.end()) {
    next_ = std::min(next_, number);
  } else {
    Put(number, found->second);
  }
}

ClosureSource::Place ClosureSource::PlaceOf(std::uint64_t number, int priority) const {
  return {Number(After(IdOf(number))), -std::int64_t{priority}, number};
}

// Rule 1. Invariant: kept_count_ is that of all parts of kept_, none of which is empty.
void ClosureSource::Put(std::uint64_t number, const WorkPreference& preference) {
  const Place place = PlaceOf(number, preference.priority);
  if (!Kept(preference)) {
    if (anybody_.insert(place).second && preference.not_on) ++aside_count_;
  } else if (kept_[*preference.worker].insert(place).second) {
    ++kept_count_;
  }
}

// Rule 1. Invariant: what is with a worker or committed is in no place, so that nobody is told that
// it waits for one (kept).
void ClosureSource::Taken(WorkId work_id) {
  if (preferences_.empty()) return;
  const auto found = preferences_.find(Number(work_id));
  if (found == preferences_.end()) return;
  const Place place = PlaceOf(found->first, found->second.priority);
  if (!Kept(found->second)) {
    Remove(place, found->second);
    return;
  }
  const auto kept = kept_.find(*found->second.worker);
  if (kept == kept_.end()) return;
  kept_count_ -= kept->second.erase(place);
  if (kept->second.empty()) kept_.erase(kept);
}

// Rule 1. Invariant: aside_count_ is that of anybody_.
bool ClosureSource::Remove(const Place& place, const WorkPreference& preference) {
  const bool there = anybody_.erase(place) > 0;
  if (there && preference.not_on) --aside_count_;
  return there;
}

// Rules 1 and 6. Invariant: it is in anybody_, as nobody is preferred.
void ClosureSource::SetAside(WorkId work_id, std::uint32_t worker) {
  Taken(work_id);
  const std::uint64_t number = Number(work_id);
  WorkPreference& preference = preferences_[number];
  preference.worker.reset();
  preference.not_on = worker;
  Put(number, preference);
}

// Rules 1 and 6. Invariant: it stays where it is.
void ClosureSource::EndAside(WorkId work_id) {
  const auto found = preferences_.find(Number(work_id));
  if (found == preferences_.end()) return;
  const Place place = PlaceOf(found->first, found->second.priority);
  const bool there = Remove(place, found->second);
  found->second.not_on.reset();
  if (there) anybody_.insert(place);
}

// Rules 1 and 6. Invariant: nothing is kept for a worker that is not there, so that nothing waits
// for one that does not come back.
void ClosureSource::SetRegistered(std::uint32_t worker, bool registered) {
  if (registered_.contains(worker) == registered) return;
  if (!registered) {
    registered_.erase(worker);
    auto kept = kept_.extract(worker);
    if (!kept) return;
    kept_count_ -= kept.mapped().size();
    anybody_.merge(kept.mapped());
    return;
  }
  registered_.insert(worker);
  for (auto next = anybody_.begin(); next != anybody_.end();) {
    const auto place = next++;
    const std::uint64_t number = place->number;
    if (preferences_.at(number).worker != worker) continue;
    anybody_.erase(place);
    Put(number, preferences_.at(number));
  }
}

std::optional<WorkId> ClosureSource::KeptFor(std::uint32_t worker) const {
  const auto kept = kept_.find(worker);
  if (kept == kept_.end()) return std::nullopt;
  return IdOf(kept->second.begin()->number);
}

}  // namespace pstrain
