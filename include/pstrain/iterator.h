#pragma once

#include <pstrain/distributed_values.h>
#include <pstrain/status.h>
#include <pstrain/values.h>

#include <memory>
#include <utility>

namespace pstrain {

namespace program {
class IteratorState;
struct IteratorAccess;
}  // namespace program

/// One element of a dataset: named tensors. Of a dataset that is batched, each tensor has the
/// records of the batch along its first axis. Mirrors the dict that a tf.data element is.
using Element = Values;

/// Gives the elements of a dataset, one after the other. Mirrors tf.data.Iterator and the iterator
/// of a per-worker dataset.
///
/// There are two kinds. One of PerWorkerDataset::Iterate is an argument of functions:
/// `coordinator.Schedule(kTrainStep, input)` gives that call the next element, whoever runs it and
/// however often, so that each element is used by one call. In the function Next() returns it:
///
///   Result<Values> TrainStep(Step& step, Iterator& input) {
///     PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
///     PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
///
/// One of Dataset::Iterate is read where it was made; it is no argument of a function.
///
/// A value: copies share one position. Threads may share it; in a function it is used by the thread
/// that runs the function.
class Iterator {
 public:
  /// The next element, for each device replica of the worker; there is one so far. Mirrors
  /// next(iterator) and tf.data.Iterator.get_next.
  ///
  /// OUT_OF_RANGE: the data has ended. FAILED_PRECONDITION: in a function, it has taken all
  /// elements that its call was given (IterateOptions::elements_per_call). UNIMPLEMENTED: outside
  /// of a function, the iterator is an argument of functions. Others: what reading has met, with
  /// the file and the record.
  Result<PerReplica<Element>> Next();

  /// Copies of one iterator, or calls that were given the same elements.
  friend bool operator==(const Iterator& a, const Iterator& b);

 private:
  friend struct program::IteratorAccess;
  explicit Iterator(std::shared_ptr<program::IteratorState> state) : state_(std::move(state)) {}

  std::shared_ptr<program::IteratorState> state_;
};

}  // namespace pstrain
