#pragma once

#include <pstrain/iterator.h>
#include <pstrain/status.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace pstrain {

namespace program {
class PerWorkerElements;
}  // namespace program

struct IterateOptions {
  /// How many elements one call is given, from 1 to 65536: its function may call Next so often.
  std::int64_t elements_per_call = 1;
};

/// The dataset of a DatasetFunction, for functions that run on workers. Mirrors what
/// ClusterCoordinator.create_per_worker_dataset returns. There, each worker has an iterator of its
/// own and reads all the data; here the pipelines have one order for all workers, and each element
/// goes to one call: a call takes the next element of the pipeline whose turn it is. A value:
/// copies are of the same. Any thread.
class PerWorkerDataset {
 public:
  /// Elements of all pipelines; Dataset::kInfiniteCardinality, Dataset::kUnknownCardinality.
  std::int64_t cardinality() const;
  /// From the first element on. The second iterator shuffles in another order than the first, as
  /// the second pass does. Mirrors iter(per_worker_dataset). INVALID_ARGUMENT: options out of their
  /// bounds.
  Result<Iterator> Iterate(const IterateOptions& options = {}) const;

 private:
  friend class ClusterCoordinator;
  explicit PerWorkerDataset(std::shared_ptr<program::PerWorkerElements> elements)
      : elements_(std::move(elements)) {}

  std::shared_ptr<program::PerWorkerElements> elements_;
};

}  // namespace pstrain
