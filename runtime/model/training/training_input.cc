#include "runtime/model/training/training_input.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/input/bad_records.h"

namespace pstrain {
namespace {

BatchShape ShapeOf(const Training& training) {
  return {.batch_size = static_cast<std::uint32_t>(training.batch_size()),
          .block_size = static_cast<std::uint32_t>(training.block_size()),
          .seed = static_cast<std::uint64_t>(training.seed())};
}

}  // namespace

Result<std::shared_ptr<const InputIndex>> OpenIndex(const Training& training,
                                                    const ChiefJob::Place& place) {
  const BatchShape shape = ShapeOf(training);
  Result<InputIndex> loaded = LoadInputIndex(place.index_file);
  if (loaded.ok()) {
    PSTRAIN_RETURN_IF_ERROR(CheckUnchanged(*loaded, training.input(), shape));
    return std::make_shared<const InputIndex>(std::move(loaded).value());
  }
  if (loaded.status().code() == StatusCode::kDataLoss) {
    return DataLossError(loaded.status().message() + "; restore it or start a new run");
  }
  if (loaded.status().code() != StatusCode::kNotFound) return loaded.status();
  Result<InputIndex> built = BuildInputIndex(training.input(), shape, place.scratch);
  if (!built.ok()) return built.status().WithContext("spec.training.input");
  PSTRAIN_RETURN_IF_ERROR(
      SaveInputIndex(*built, place.index_file).WithContext(place.must_be_writable));
  return std::make_shared<const InputIndex>(std::move(built).value());
}

ChiefJob::Work WorkOf(const Training& training, const std::shared_ptr<const InputIndex>& index) {
  ChiefJob::Work work;
  work.records = static_cast<std::int64_t>(index->total_records());
  work.check_left_out = [of = training.input(), records = index->total_records()](
                            std::uint64_t passes, std::uint64_t left_out) {
    return CheckBadRecords(of, records, passes, left_out).WithContext("spec.training.input");
  };
  InputWork& input = work.input;
  input.epochs = static_cast<std::uint32_t>(training.epochs());
  input.batches_per_epoch = index->batches_per_epoch();
  auto records = std::make_shared<std::vector<std::uint32_t>>();
  for (std::uint32_t batch = 0; batch < input.batches_per_epoch; ++batch) {
    records->push_back(index->RecordCount({0, batch}));
  }
  input.records = [records](std::uint32_t batch) { return (*records)[batch]; };
  input.block = [index](std::uint32_t batch) {
    const Result<BatchPlace> place = index->Place({0, batch});
    return place.ok() ? place->block : 0;
  };
  // One epoch's order at a time: grants walk through the epochs.
  struct Order {
    std::uint32_t epoch = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> batches;
  };
  input.order = [index, order = std::make_shared<Order>()](std::uint32_t epoch,
                                                           std::uint32_t position) {
    if (order->epoch != epoch) *order = {epoch, index->WorkIdOrder(epoch)};
    return order->batches[position];
  };
  return work;
}

}  // namespace pstrain
