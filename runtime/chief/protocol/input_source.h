#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/protocol/work_source.h"

namespace pstrain {

/// The batches of an input, epoch after epoch, each epoch in its own order. The batches of a block
/// go to one worker, which then reads the block from its file once; that is only a preference:
/// others take from it when nothing else is left. One thread at a time.
class InputSource final : public WorkSource {
 public:
  explicit InputSource(InputWork input);

  std::uint32_t chunk_size() const override { return input_.batches_per_epoch; }
  std::uint32_t chunks() const override { return input_.epochs; }
  std::uint64_t work_ids() const override {
    return std::uint64_t{input_.epochs} * input_.batches_per_epoch;
  }
  std::int64_t records() const override { return records_; }
  std::uint32_t RecordsOf(WorkId work_id) const override;
  std::optional<WorkId> Next(std::uint32_t worker, const Whole& whole) override;
  std::vector<WorkId> TakeReserved(std::uint32_t worker) override;
  /// To the beginning.
  void Rewind(WorkId work_id) override;

 private:
  std::uint32_t BatchAt(std::uint32_t epoch, std::uint32_t position) const;
  /// The next work id of the order; nothing at the end.
  std::optional<WorkId> NextInOrder(const Whole& whole);
  /// Puts the next block of the order aside for the worker; false at the end.
  bool ReserveBlock(std::uint32_t worker, const Whole& whole);

  const InputWork input_;
  std::int64_t records_ = 0;
  /// What is left of the block that was put aside for each worker. After a Rewind a work id may be
  /// in two.
  std::map<std::uint32_t, std::deque<WorkId>> reserved_;
  /// Position of the order up to which every work id has come or is reserved.
  std::uint32_t epoch_ = 0;
  std::uint32_t position_ = 0;
};

}  // namespace pstrain
