#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/protocol/work_id_set.h"
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
  std::uint64_t wanted() const override { return ends_early_ ? wanted_count_ : work_ids(); }
  std::uint64_t Wanted(std::uint32_t chunk, std::size_t word) const override {
    return ends_early_ ? wanted_.Word(chunk, word) : ~std::uint64_t{0};
  }
  void EndEarly(const AppliedSet& granted) override;
  void Adopt(std::uint32_t chunk, std::size_t word, std::uint64_t bits) override;
  void CloseEnd() override { end_closed_ = true; }
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

  /// REQUIRES: ends_early_.
  void Want(std::uint32_t chunk, std::size_t word, std::uint64_t bits);

  const InputWork input_;
  std::int64_t records_ = 0;
  /// What is left of the block that was put aside for each worker. After a Rewind a work id may be
  /// in two.
  std::map<std::uint32_t, std::deque<WorkId>> reserved_;
  /// Position of the order up to which every work id has come or is reserved.
  std::uint32_t epoch_ = 0;
  std::uint32_t position_ = 0;
  /// Where the run ends early: the work ids that it is to have, and how many these are.
  bool ends_early_ = false;
  bool end_closed_ = false;
  WorkIdSet wanted_;
  std::uint64_t wanted_count_ = 0;
};

}  // namespace pstrain
