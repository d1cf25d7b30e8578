#include "runtime/input/input_index.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace pstrain {
namespace {

// Streams of the run's seed, so that block order and record order are independent.
constexpr std::uint64_t kBlockOrderStream = 0x626c6f636bULL;
constexpr std::uint64_t kRecordOrderStream = 0x7265636f7264ULL;

std::uint64_t KeyOf(std::uint64_t seed, std::uint64_t stream, std::uint64_t epoch) {
  return Mix64(Mix64(seed, stream), epoch);
}

}  // namespace

std::uint64_t MostBatches(const BatchShape& shape, std::uint64_t records) {
  const std::uint64_t per_block = (shape.block_size - 1) / shape.batch_size + 1;
  return (records / shape.block_size + 1) * per_block;
}

InputIndex::InputIndex(BatchShape shape, std::string kind, std::vector<std::string> columns,
                       std::vector<IndexedFile> files)
    : shape_(shape),
      kind_(std::move(kind)),
      columns_(std::move(columns)),
      files_(std::move(files)) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    total_records_ += files_[i].records;
    for (std::uint64_t first = 0; first < files_[i].records; first += shape_.block_size) {
      InputBlock block;
      block.file = static_cast<std::uint32_t>(i);
      block.in_file = static_cast<std::uint32_t>(first / shape_.block_size);
      block.first_record = first;
      block.records = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(shape_.block_size, files_[i].records - first));
      block.first_batch = batches_per_epoch_;
      block.batches = (block.records - 1) / shape_.batch_size + 1;
      batches_per_epoch_ += block.batches;
      blocks_.push_back(block);
    }
  }
}

Result<BatchPlace> InputIndex::Place(WorkId work_id) const {
  if (work_id.batch >= batches_per_epoch_) {
    return OutOfRangeError("the input has " + std::to_string(batches_per_epoch_) +
                           " batches per epoch, there is no batch " +
                           std::to_string(work_id.batch));
  }
  const auto after = std::upper_bound(
      blocks_.begin(), blocks_.end(), work_id.batch,
      [](std::uint32_t batch, const InputBlock& block) { return batch < block.first_batch; });
  const auto block = std::prev(after);
  BatchPlace place;
  place.block = static_cast<std::uint32_t>(block - blocks_.begin());
  place.batch_in_block = work_id.batch - block->first_batch;
  place.first = place.batch_in_block * shape_.batch_size;
  place.records = std::min(shape_.batch_size, block->records - place.first);
  return place;
}

std::uint32_t InputIndex::RecordCount(WorkId work_id) const {
  const Result<BatchPlace> place = Place(work_id);
  return place.ok() ? place->records : 0;
}

std::vector<std::uint32_t> InputIndex::WorkIdOrder(std::uint32_t epoch) const {
  std::vector<std::uint32_t> order;
  order.reserve(batches_per_epoch_);
  const KeyedPermutation blocks(KeyOf(shape_.seed, kBlockOrderStream, epoch), blocks_.size());
  for (std::uint64_t i = 0; i < blocks_.size(); ++i) {
    const InputBlock& block = blocks_[blocks(i)];
    for (std::uint32_t k = 0; k < block.batches; ++k) order.push_back(block.first_batch + k);
  }
  return order;
}

std::vector<std::uint32_t> InputIndex::RecordOrder(std::uint32_t epoch, std::uint32_t block) const {
  const std::uint32_t records = blocks_[block].records;
  const KeyedPermutation permutation(Mix64(KeyOf(shape_.seed, kRecordOrderStream, epoch), block),
                                     records);
  std::vector<std::uint32_t> order(records);
  for (std::uint32_t i = 0; i < records; ++i) {
    order[i] = static_cast<std::uint32_t>(permutation(i));
  }
  return order;
}

}  // namespace pstrain
