#include "runtime/input/batch_reader.h"

#include <list>
#include <utility>
#include <vector>

#include "runtime/input/block_decoder.h"

namespace pstrain {
namespace {

class CachingBatchReader final : public BatchReader {
 public:
  CachingBatchReader(BlockDecoder decoder, std::shared_ptr<const InputIndex> index,
                     std::size_t cached_blocks)
      : decoder_(std::move(decoder)), index_(std::move(index)), cached_blocks_(cached_blocks) {}

  Result<Batch> Read(WorkId work_id) override {
    PSTRAIN_ASSIGN_OR_RETURN(const BatchPlace place, index_->Place(work_id));
    PSTRAIN_ASSIGN_OR_RETURN(const CachedBlock* cached, Cached(work_id.epoch, place.block));
    std::vector<std::uint32_t> rows;
    rows.reserve(place.records);
    for (std::uint32_t i = place.first; i < place.first + place.records; ++i) {
      const std::uint32_t row = cached->decoded.rows[cached->order[i]];
      if (row != kSkipped) rows.push_back(row);
    }
    Batch batch = Gather(cached->decoded.batch, rows);
    batch.skipped = place.records - batch.records;
    return batch;
  }

  std::uint64_t blocks_decoded() const override { return blocks_decoded_; }

 private:
  struct CachedBlock {
    std::uint32_t block = 0;
    std::uint32_t epoch = 0;
    std::vector<std::uint32_t> order;
    DecodedBlock decoded;
  };

  /// The block, at the front of the cache, with the order of that epoch.
  Result<const CachedBlock*> Cached(std::uint32_t epoch, std::uint32_t block) {
    for (auto it = cache_.begin(); it != cache_.end(); ++it) {
      if (it->block != block) continue;
      cache_.splice(cache_.begin(), cache_, it);
      if (it->epoch != epoch) {
        it->order = index_->RecordOrder(epoch, block);
        it->epoch = epoch;
      }
      return &cache_.front();
    }
    CachedBlock fresh;
    fresh.block = block;
    fresh.epoch = epoch;
    PSTRAIN_ASSIGN_OR_RETURN(fresh.decoded, decoder_.Decode(block));
    ++blocks_decoded_;
    fresh.order = index_->RecordOrder(epoch, block);
    cache_.push_front(std::move(fresh));
    if (cache_.size() > cached_blocks_ && cache_.size() > 1) cache_.pop_back();
    return &cache_.front();
  }

  BlockDecoder decoder_;
  std::shared_ptr<const InputIndex> index_;
  std::size_t cached_blocks_;
  /// Most recently used first.
  std::list<CachedBlock> cache_;
  std::uint64_t blocks_decoded_ = 0;
};

}  // namespace

Result<std::unique_ptr<BatchReader>> BatchReader::Create(const Input& input,
                                                         std::shared_ptr<const FeatureSet> features,
                                                         std::shared_ptr<const InputIndex> index,
                                                         Options options) {
  PSTRAIN_ASSIGN_OR_RETURN(
      BlockDecoder decoder,
      BlockDecoder::Create(input, std::move(features), index, std::move(options.scratch),
                           std::move(options.on_bad)));
  return std::unique_ptr<BatchReader>(std::make_unique<CachingBatchReader>(
      std::move(decoder), std::move(index), options.cached_blocks));
}

}  // namespace pstrain
