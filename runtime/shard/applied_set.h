#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/ids.h"

namespace pstrain {

/// The batches that a shard has applied: a low-water mark (every batch of every epoch below it) and
/// a bitmap for each open epoch. It is the truth of the commit protocol (ARCHITECTURE.md). A value
/// type; one thread at a time.
class AppliedSet {
 public:
  /// `batches_per_epoch`: batches of one epoch, the same for the whole run.
  explicit AppliedSet(std::uint32_t batches_per_epoch = 0);

  std::uint32_t batches_per_epoch() const { return batches_per_epoch_; }
  bool Contains(WorkId work_id) const;
  /// True if the work id was new. REQUIRES: work id.batch < batches_per_epoch().
  bool Insert(WorkId work_id);
  /// Every epoch below this is complete.
  std::uint32_t low_water() const { return low_water_; }
  /// True if every batch of `epoch` is in the set.
  bool EpochComplete(std::uint32_t epoch) const;
  /// Raises the low-water mark over epochs that are complete, up to `epoch`, and frees their
  /// bitmaps.
  void CloseEpochsBelow(std::uint32_t epoch);
  /// WorkIds in the set, those below the low-water mark included.
  std::uint64_t size() const;
  /// Batches [64 * word, 64 * word + 64) of `epoch` as bits, lowest first; none beyond the epoch's
  /// end.
  std::uint64_t Word(std::uint32_t epoch, std::size_t word) const;
  /// WorkIds of epochs [0, epochs) that are absent, in order.
  std::vector<WorkId> Missing(std::uint32_t epochs) const;

  /// Portable bytes (little-endian) and back. Parse refuses with DATA_LOSS what Serialize did not
  /// write.
  std::string Serialize() const;
  static Result<AppliedSet> Parse(std::string_view bytes);

  friend bool operator==(const AppliedSet&, const AppliedSet&) = default;

 private:
  struct Epoch {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> bits;
    friend bool operator==(const Epoch&, const Epoch&) = default;
  };
  std::uint32_t batches_per_epoch_ = 0;
  std::uint32_t low_water_ = 0;
  std::map<std::uint32_t, Epoch> open_;
};

}  // namespace pstrain
