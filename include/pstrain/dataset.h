#pragma once

#include <pstrain/input_context.h>
#include <pstrain/iterator.h>
#include <pstrain/record_files.h>
#include <pstrain/status.h>
#include <pstrain/values.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

namespace program {
struct DatasetPlan;
}  // namespace program

/// What elements there are, and in which order: a description, which reads nothing before it is
/// iterated. Mirrors tf.data.Dataset.
///
/// Any element can be made without those before it: transforms compute which records it needs. So
/// whoever runs a call again reads the same, and nothing is read twice or left out. Only a
/// Generator has no such access.
///
///   Dataset::Csv(files).Pack("x", kColumns).Shuffle(kSeed).Repeat().Batch(128)
///
/// The order of transforms counts as in tf.data: Shuffle before Repeat gives each pass an order of
/// its own, Batch before Repeat ends each pass with its remainder, Repeat before Batch has batches
/// that span passes.
///
/// Errors (a file that is absent, a size that is negative) come from whatever opens the dataset:
/// ClusterCoordinator::CreatePerWorkerDataset, Iterate and Cardinality. NOT_FOUND: a file is
/// absent; DATA_LOSS: a file is damaged; INVALID_ARGUMENT: everything else that cannot be.
///
/// A value, immutable and cheap to copy; any thread. Functions that are given to Map and Generator
/// are called by any thread, those of Map by several at a time; one that throws fails with INTERNAL
/// and the exception's text.
class Dataset {
 public:
  /// What Cardinality says of datasets without an end, and of those that nobody has counted.
  static constexpr std::int64_t kInfiniteCardinality = -1;
  static constexpr std::int64_t kUnknownCardinality = -2;

  /// The records of text files (RFC 4180), one element each: a scalar for each column. Opening
  /// reads all files once, to count their records and to know where they are. Mirrors
  /// tf.data.experimental.make_csv_dataset, without its batches and its shuffling.
  static Dataset Csv(std::vector<std::string> files, CsvOptions options = {});
  /// The records of TFRecord files, with their checksums checked. Opening reads all files once.
  /// Mirrors tf.data.TFRecordDataset with tf.io.parse_single_example.
  static Dataset TfRecord(std::vector<std::string> files, TfRecordOptions options = {});
  /// One element for each row along the first axis, which all tensors have as long. Mirrors
  /// tf.data.Dataset.from_tensor_slices of a dict.
  static Dataset FromTensorSlices(Values tensors);
  /// One element. Mirrors tf.data.Dataset.from_tensors of a dict.
  static Dataset FromTensors(Values tensors);
  /// int64 scalars named "value": 0, 1, ... stop - 1, or from `start` by steps of `step`, which may
  /// be negative. Mirrors tf.data.Dataset.range.
  static Dataset Range(std::int64_t stop) { return Range(0, stop); }
  static Dataset Range(std::int64_t start, std::int64_t stop, std::int64_t step = 1);
  /// The paths that match, as texts named "file": sorted, or with a seed in an order by it. Mirrors
  /// tf.data.Dataset.list_files, which shuffles by default.
  static Dataset ListFiles(std::string pattern, std::optional<std::uint64_t> seed = std::nullopt);

  /// The next element, nothing at the end; an error ends it too.
  using NextElement = std::function<Result<std::optional<Element>>()>;
  /// Elements that a function makes one after the other; `begin` is called for each pass and has to
  /// begin again. Mirrors tf.data.Dataset.from_generator. Its size is not known: the function whose
  /// Next finds the end gets OUT_OF_RANGE. A worker that needs element k makes all before it, so
  /// calls are exact only as far as each pass makes the same elements. No Shuffle or Repeat.
  static Dataset Generator(std::function<NextElement()> begin);

  /// What the function makes of each element. Mirrors tf.data.Dataset.map. The function depends on
  /// the element alone: it may be called for it again, or elsewhere.
  Dataset Map(std::function<Result<Element>(const Element&)> function) const;
  /// The elements in an order by the seed, with `reshuffle_each_iteration` by another one in each
  /// pass. It permutes all elements, where TensorFlow's shuffles within a buffer. Mirrors
  /// tf.data.Dataset.shuffle. INVALID_ARGUMENT: the size is not known or without end.
  Dataset Shuffle(std::uint64_t seed, bool reshuffle_each_iteration = true) const;
  /// All elements that many times, or with -1 for ever. Mirrors tf.data.Dataset.repeat. Of a
  /// dataset without elements there is nothing to repeat. INVALID_ARGUMENT: the size is not known.
  Dataset Repeat(std::int64_t count = -1) const;
  /// So many elements stacked along a new first axis; the last ones are fewer, or left out with
  /// `drop_remainder`. Mirrors tf.data.Dataset.batch. Where elements differ in names, dtypes or
  /// shapes, Next fails with INVALID_ARGUMENT.
  Dataset Batch(std::int64_t size, bool drop_remainder = false) const;
  /// Every num-th element, from element `index` on. Mirrors tf.data.Dataset.shard.
  Dataset Shard(std::int64_t num, std::int64_t index) const;
  /// The first elements, at most so many; all with -1. Mirrors tf.data.Dataset.take.
  Dataset Take(std::int64_t count) const;
  /// Without the first elements; without all with -1. Mirrors tf.data.Dataset.skip.
  Dataset Skip(std::int64_t count) const;
  /// Has a thread make elements before they are asked for, `buffer_size` at most; none with 0, and
  /// as many as the library likes with -1. It begins with one, and makes more as long as they are
  /// asked for: in a worker these are every n-th, where n workers take turns. Elements stay what
  /// they are; what is made for nothing costs only time. Put it last. Mirrors
  /// tf.data.Dataset.prefetch, with tf.data.AUTOTUNE for -1. INVALID_ARGUMENT: below -1.
  Dataset Prefetch(std::int64_t buffer_size = -1) const;
  /// Puts tensors of one dtype into one with one axis, their elements one after the other, in the
  /// place of the first. What tf.data programs write as a map with tf.stack.
  Dataset Pack(std::string name, std::vector<std::string> parts) const;

  /// How many elements there are. Opens the dataset. Mirrors tf.data.Dataset.cardinality.
  Result<std::int64_t> Cardinality() const;
  /// An iterator from the first element on, which is read here and is no argument of a function.
  /// Opens the dataset. Mirrors iter(dataset).
  Result<Iterator> Iterate() const;

  /// Of what implements it.
  explicit Dataset(std::shared_ptr<const program::DatasetPlan> plan) : plan_(std::move(plan)) {}
  const program::DatasetPlan& plan() const { return *plan_; }

 private:
  std::shared_ptr<const program::DatasetPlan> plan_;
};

/// A function that makes a dataset, registered under a name: a constant of the program, made before
/// `main`, so that all roles of a program have it. Mirrors the dataset_fn of
/// create_per_worker_dataset. It is called on the coordinator and on each worker that runs a call
/// with an iterator of it, by any thread, and has to say the same each time. Two of one name:
/// ParameterServerStrategy::Create fails with ALREADY_EXISTS. Any thread.
///
///   Result<Dataset> Records(const InputContext&) { return Dataset::Csv({"/data/train.csv"}); }
///   inline const DatasetFunction kRecords{"Records", Records};
class DatasetFunction {
 public:
  using Body = Result<Dataset> (*)(const InputContext& context);

  DatasetFunction(std::string name, Body body,
                  const std::source_location& where = std::source_location::current());
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace pstrain
