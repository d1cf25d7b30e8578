#pragma once

#include <pstrain/iterator.h>
#include <pstrain/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pstrain {

namespace program {
class PerWorkerElements;
}  // namespace program

/// How an iterator is made; iter(per_worker_dataset) of TensorFlow takes nothing. A value.
struct IterateOptions {
  /// How many elements one call is given, from 1 to 65536: its function may call Next so often.
  std::int64_t elements_per_call = 1;
  /// Of a name there is one iterator; marks keep where it stands. Empty: it begins at the first.
  std::string name = {};
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
  /// From the first element on, or, with a name, from where the mark that the run has returned to
  /// says; then with as many pipelines as it had. The second iterator shuffles in another order
  /// than the first, as the second pass does. Mirrors iter(per_worker_dataset), and that a
  /// checkpoint may have an iterator. INVALID_ARGUMENT: options out of their bounds.
  /// ALREADY_EXISTS: the name is that of another iterator. FAILED_PRECONDITION: in the mark it is
  /// of another dataset, or has another number of pipelines.
  Result<Iterator> Iterate(const IterateOptions& options = {}) const;

 private:
  friend class ClusterCoordinator;
  explicit PerWorkerDataset(std::shared_ptr<program::PerWorkerElements> elements)
      : elements_(std::move(elements)) {}

  std::shared_ptr<program::PerWorkerElements> elements_;
};

}  // namespace pstrain
