#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The batches whose gradients are in a shard's values: the truth of the commit protocol
/// (ARCHITECTURE.md, The commit protocol). A work id (epoch, batch) is one bit:
///
///   low-water mark L   every batch of epochs 0 .. L-1 is in the set; they need no bits
///   epoch e >= L       bit b % 64 of word b / 64 is 1 when the values contain batch b of epoch e;
///                      an epoch without any bit has no entry
///
/// Bits are only ever added, and in the same step of the owner thread as the gradient they stand
/// for, so values and set never disagree: in memory, in a checkpoint shard and in a moved copy. To
/// take a batch back means to replace values and set together by an older copy. All batches of a
/// run cost one bit per shard while their epoch is open, and nothing afterwards.
///
/// A value type; one thread at a time.
class AppliedSet {
 public:
  /// Epochs are below this, so that their number fits like that of each.
  static constexpr std::uint32_t kMostEpochs = std::numeric_limits<std::uint32_t>::max();

  /// `batches_per_epoch`: batches of one epoch, the same for the whole run.
  explicit AppliedSet(std::uint32_t batches_per_epoch = 0);

  std::uint32_t batches_per_epoch() const { return batches_per_epoch_; }
  bool Contains(WorkId work_id) const;
  /// True if every work id below that one is in the set. As quick for a long run as for a short
  /// one.
  bool ContainsAllBelow(WorkId work_id) const { return work_id <= first_absent_; }
  /// True if the work id was new: exactly then its gradient is to be applied.
  /// REQUIRES: work_id.batch < batches_per_epoch(), work_id.epoch < kMostEpochs.
  bool Insert(WorkId work_id);
  /// Every epoch below this is complete.
  std::uint32_t low_water() const { return low_water_; }
  /// True if every batch of `epoch` is in the set.
  bool EpochComplete(std::uint32_t epoch) const;
  /// Raises the low-water mark over epochs that are complete, up to `epoch`, and frees their
  /// bitmaps. Changes how the set is stored, not what is in it.
  void CloseEpochsBelow(std::uint32_t epoch);
  /// The highest epoch of which a batch is in the set, plus 1; 0 for an empty set.
  std::uint32_t EpochsBegun() const;
  /// Work ids in the set, those below the low-water mark included.
  std::uint64_t size() const;
  /// Batches [64 * word, 64 * word + 64) of `epoch` as bits, lowest first; none beyond the epoch's
  /// end.
  std::uint64_t Word(std::uint32_t epoch, std::size_t word) const;
  /// A copy without these, also of epochs below the low-water mark.
  AppliedSet Without(const std::vector<WorkId>& work_ids) const;
  /// Work ids of epochs [0, epochs) that are absent, in order.
  std::vector<WorkId> Missing(std::uint32_t epochs) const;

  /// Portable bytes (little-endian) and back. Parse refuses with DATA_LOSS what Serialize did not
  /// write.
  std::string Serialize() const;
  static Result<AppliedSet> Parse(std::string_view bytes);

  friend bool operator==(const AppliedSet&, const AppliedSet&) = default;

 private:
  struct Epoch {
    /// Bits that are 1, so that the end of an epoch is seen without looking at all words.
    std::uint64_t count = 0;
    /// Bits beyond the last batch are 0.
    std::vector<std::uint64_t> bits;
    friend bool operator==(const Epoch&, const Epoch&) = default;
  };
  /// Moves first_absent_ over what is in the set.
  void PassPresent();

  std::uint32_t batches_per_epoch_ = 0;
  std::uint32_t low_water_ = 0;
  /// The lowest work id that is not in the set.
  WorkId first_absent_;
  /// By epoch; none below low_water_, none without a bit.
  std::map<std::uint32_t, Epoch> open_;
};

}  // namespace pstrain
