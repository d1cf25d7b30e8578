#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/chief/protocol/work_source.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {

/// Who is to have a work id, and when in its phase. A value.
struct WorkPreference {
  /// It is kept for that one while it is registered, and is anybody's while it is not.
  std::optional<std::uint32_t> worker = std::nullopt;
  int priority = 0;
  /// Another one is to have it, while one is registered.
  std::optional<std::uint32_t> not_on = std::nullopt;
  friend bool operator==(const WorkPreference&, const WorkPreference&) = default;
};

/// Work that is added while it is done, in phases: nothing of a phase is begun before all of the
/// phases before it is committed. Within a phase the highest priority is first, and of that the
/// lowest open id, whoever asks, but for what is kept for another worker, or for any other. What
/// was done is kept, to be done again for a shard that is restored without it, until Forget. One
/// thread at a time.
class ClosureSource : public WorkSource {
 public:
  static constexpr std::uint32_t kChunkSize = 4096;

  /// `open`: work may be added until Close, and the run does not end before. `made_room` is called
  /// whenever Forget has made some.
  explicit ClosureSource(bool open = false, std::function<void()> made_room = nullptr)
      : open_(open), made_room_(std::move(made_room)) {}

  /// The reverse of Number. The number of the chunk stands where a batch of the input has its epoch
  /// (WorkId).
  static WorkId IdOf(std::uint64_t number) {
    return {static_cast<std::uint32_t>(number / kChunkSize),
            static_cast<std::uint32_t>(number % kChunkSize)};
  }

  /// Those below `first` were done by chiefs before this one, each with one record: nobody is to do
  /// them again. REQUIRES: before the first Add.
  void BeginAt(std::uint64_t first);
  /// Adds the next work id, with that many records.
  WorkId Add(std::uint32_t records = 1, WorkContent content = {},
             const WorkPreference& preference = {});
  /// What is added from here on belongs to a new phase. Without effect when the phase is empty.
  void EndPhase();
  /// The first number of the phase that is open, or will be opened by the next Add.
  WorkId phase() const { return phases_.empty() ? WorkId{} : IdOf(phases_.back()); }
  /// As held_from, from now on.
  void HoldFrom(std::uint64_t number) { held_from_ = number; }
  /// Nothing will be added any more.
  void Close() { open_ = false; }
  // What a work id is from now on, whoever is granted it. REQUIRES: it exists, and is not below
  // BeginAt's. Of one that is forgotten only Lose is remembered.

  /// Nobody wants it any more: kVoidWork.
  void Void(WorkId work_id) { SetKind(work_id, kVoidWork); }
  /// It has succeeded: kRepairWork.
  void Repair(WorkId work_id) { SetKind(work_id, kRepairWork); }
  /// It does not succeed any more: kLostWork.
  void Lose(WorkId work_id) {
    lost_.insert(Number(work_id));
    SetKind(work_id, kLostWork);
  }
  /// Of all that is kept, and of the payloads among it. Work that follows work of the same content
  /// shares its payload.
  std::size_t kept_bytes() const { return closures_.size() * sizeof(Closure) + payload_bytes(); }
  std::size_t payload_bytes() const { return payloads_added_ - payloads_forgotten_; }
  /// Another worker is to have it before this one, and nobody is preferred any more. REQUIRES: it
  /// is open.
  void SetAside(WorkId work_id, std::uint32_t worker);
  /// Anybody may have it again.
  void EndAside(WorkId work_id);

  bool closed() const override { return !open_; }
  std::uint32_t chunk_size() const override { return kChunkSize; }
  std::uint32_t chunks() const override;
  std::uint64_t work_ids() const override { return end(); }
  std::int64_t records() const override { return records_; }
  std::uint32_t RecordsOf(WorkId work_id) const override { return Of(work_id).records; }
  WorkId After(WorkId work_id) const override;
  std::uint64_t held_from() const override { return held_from_; }
  WorkContent ContentOf(WorkId work_id) const override;
  std::uint32_t KindOf(WorkId work_id) const override { return Of(work_id).kind; }
  /// What was lost; of what a mark has nobody knows any more what that was.
  bool MayDiffer(WorkId work_id) const override {
    return Number(work_id) < first_ || lost_.contains(Number(work_id));
  }
  /// A function may take as long as it likes.
  std::optional<ProtocolTime> DeadlineOf(WorkId /*work_id*/,
                                         ProtocolTime /*usual*/) const override {
    return std::nullopt;
  }
  /// A program waits for what its function has returned.
  std::uint64_t by_report_from() const override { return first_; }
  bool in_phase_order() const override { return true; }
  std::optional<WorkId> Next(std::uint32_t worker, const Whole& whole) override;
  std::vector<WorkId> TakeReserved(std::uint32_t /*worker*/) override { return {}; }
  void Rewind(WorkId work_id) override;
  void SetRegistered(std::uint32_t worker, bool registered) override;
  void Taken(WorkId work_id) override;
  std::uint64_t kept() const override { return kept_count_; }
  std::optional<WorkId> KeptFor(std::uint32_t worker) const override;
  void Forget(std::uint64_t number) override;
  std::uint64_t forgotten() const override { return kept_from_ > first_ ? kept_from_ : 0; }
  std::size_t KeptBelow(std::uint64_t number) const override;
  std::uint64_t aside() const override { return aside_count_; }

 private:
  struct Closure {
    std::uint32_t records = 1;
    /// In place of content->kind.
    std::uint32_t kind = kVoidWork;
    std::shared_ptr<const WorkContent> content;
    /// Of all payloads up to and with this one, as payloads_added_ counts them.
    std::uint64_t payloads = 0;
  };

  /// Of a work id that has a preference, in the order.
  struct Place {
    std::uint64_t phase = 0;
    std::int64_t urgency = 0;  // the lowest first
    std::uint64_t number = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Places = std::set<Place>;

  Place PlaceOf(std::uint64_t number, int priority) const;
  bool Kept(const WorkPreference& preference) const {
    return preference.worker && registered_.contains(*preference.worker);
  }
  void Put(std::uint64_t number, const WorkPreference& preference);
  /// Out of anybody_. True: it was there.
  bool Remove(const Place& place, const WorkPreference& preference);
  /// The first one that anybody may have, and this worker.
  std::optional<Place> FirstFor(std::uint32_t worker) const;
  /// The next number without a preference that Next looks at; next_ is there then.
  std::optional<std::uint64_t> NextPlain(const Whole& whole);
  std::uint64_t end() const { return kept_from_ + closures_.size(); }
  const Closure& Of(WorkId work_id) const {
    const std::uint64_t number = Number(work_id);
    return number < kept_from_ ? before_ : closures_[number - kept_from_];
  }

  void SetKind(WorkId work_id, std::uint32_t kind) {
    const std::uint64_t number = Number(work_id);
    if (number >= kept_from_) closures_[number - kept_from_].kind = kind;
  }

  std::uint64_t first_ = 0;
  /// Each one below kept_from_.
  Closure before_ = {1, kVoidWork, std::make_shared<const WorkContent>(WorkContent{kVoidWork, {}})};
  /// Not below first_; what is between the two is forgotten.
  std::uint64_t kept_from_ = 0;
  /// From kept_from_ on, by number.
  std::deque<Closure> closures_;
  std::int64_t records_ = 0;
  /// Bytes, each payload that several share once.
  std::uint64_t payloads_added_ = 0;
  std::uint64_t payloads_forgotten_ = 0;
  /// Those that Lose was called with.
  std::set<std::uint64_t> lost_;
  bool open_ = false;
  const std::function<void()> made_room_;
  /// The first number of each phase but the first, ascending; of phases before kept_from_'s none.
  std::deque<std::uint64_t> phases_;
  std::uint64_t held_from_ = ~std::uint64_t{0};
  /// The next number without a preference that Next looks at.
  std::uint64_t next_ = 0;
  /// Of the numbers that have one. Invariant: such a number is in anybody_ or in its worker's part
  /// of kept_ while it is open, and in none while it is not.
  std::unordered_map<std::uint64_t, WorkPreference> preferences_;
  Places anybody_;
  std::map<std::uint32_t, Places> kept_;
  std::uint64_t kept_count_ = 0;
  /// Of anybody_, those that one worker is not to have.
  std::uint64_t aside_count_ = 0;
  std::set<std::uint32_t> registered_;
};

}  // namespace pstrain
