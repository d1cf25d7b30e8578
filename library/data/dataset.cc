#include <pstrain/dataset.h>

#include <limits>
#include <utility>

#include "library/data/data_node.h"
#include "library/data/dataset_registry.h"
#include "library/data/files/csv_records.h"
#include "library/data/files/tfrecord_records.h"
#include "library/data/iterator_state.h"
#include "library/data/sources.h"
#include "library/data/transforms.h"

namespace pstrain {
namespace {

using program::DataNodePtr;
using program::DatasetPlan;

Dataset OpenedBy(std::function<Result<DataNodePtr>()> open) {
  return Dataset(std::make_shared<const DatasetPlan>(DatasetPlan{std::move(open)}));
}

/// A dataset over another one: `over` opens it when that is open.
template <typename Over>
Dataset Transformed(const Dataset& from, Over over) {
  return OpenedBy([from, over = std::move(over)]() -> Result<DataNodePtr> {
    PSTRAIN_ASSIGN_OR_RETURN(DataNodePtr opened, from.plan().open());
    return over(std::move(opened));
  });
}

Result<DataNodePtr> OpenFileList(const std::string& pattern, std::optional<std::uint64_t> seed) {
  Result<std::vector<std::string>> found = Glob(pattern);
  if (!found.ok()) return found.status().WithContext("ListFiles");
  PSTRAIN_ASSIGN_OR_RETURN(DataNodePtr files,
                           program::OpenSlices({{"file", Tensor::From(*std::move(found))}}));
  return seed ? program::OpenShuffle(std::move(files), *seed, true) : files;
}

}  // namespace

Dataset Dataset::Csv(std::vector<std::string> files, CsvOptions options) {
  return OpenedBy([files = std::move(files), options = std::move(options)] {
    return program::OpenCsv(files, options);
  });
}

Dataset Dataset::TfRecord(std::vector<std::string> files, TfRecordOptions options) {
  return OpenedBy([files = std::move(files), options = std::move(options)] {
    return program::OpenTfRecord(files, options);
  });
}

Dataset Dataset::FromTensorSlices(Values tensors) {
  return OpenedBy([tensors = std::move(tensors)] { return program::OpenSlices(tensors); });
}

Dataset Dataset::FromTensors(Values tensors) {
  return OpenedBy([tensors = std::move(tensors)]() -> Result<DataNodePtr> {
    return program::OpenOne(tensors);
  });
}

Dataset Dataset::Range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  return OpenedBy([start, stop, step] { return program::OpenRange(start, stop, step); });
}

Dataset Dataset::ListFiles(std::string pattern, std::optional<std::uint64_t> seed) {
  return OpenedBy([pattern = std::move(pattern), seed] { return OpenFileList(pattern, seed); });
}

Dataset Dataset::Generator(std::function<NextElement()> begin) {
  return OpenedBy([begin = std::move(begin)] { return program::OpenGenerator(begin); });
}

Dataset Dataset::Map(std::function<Result<Element>(const Element&)> function) const {
  return Transformed(*this, [function = std::move(function)](DataNodePtr from) {
    return program::OpenMap(std::move(from), function);
  });
}

Dataset Dataset::Shuffle(std::uint64_t seed, bool reshuffle_each_iteration) const {
  return Transformed(*this, [seed, reshuffle_each_iteration](DataNodePtr from) {
    return program::OpenShuffle(std::move(from), seed, reshuffle_each_iteration);
  });
}

Dataset Dataset::Repeat(std::int64_t count) const {
  return Transformed(
      *this, [count](DataNodePtr from) { return program::OpenRepeat(std::move(from), count); });
}

Dataset Dataset::Batch(std::int64_t size, bool drop_remainder) const {
  return Transformed(*this, [size, drop_remainder](DataNodePtr from) {
    return program::OpenBatch(std::move(from), size, drop_remainder);
  });
}

Dataset Dataset::Shard(std::int64_t num, std::int64_t index) const {
  return Transformed(*this, [num, index](DataNodePtr from) {
    return program::OpenShard(std::move(from), num, index);
  });
}

Dataset Dataset::Take(std::int64_t count) const {
  return Transformed(
      *this, [count](DataNodePtr from) { return program::OpenTake(std::move(from), count); });
}

Dataset Dataset::Skip(std::int64_t count) const {
  return Transformed(
      *this, [count](DataNodePtr from) { return program::OpenSkip(std::move(from), count); });
}

Dataset Dataset::Prefetch(std::int64_t buffer_size) const {
  return Transformed(*this, [buffer_size](DataNodePtr from) {
    return program::OpenPrefetch(std::move(from), buffer_size);
  });
}

Dataset Dataset::Pack(std::string name, std::vector<std::string> parts) const {
  return Transformed(
      *this,
      [name = std::move(name), parts = std::move(parts)](DataNodePtr from) -> Result<DataNodePtr> {
        if (parts.empty()) return InvalidArgumentError("Pack: \"" + name + "\" has no parts");
        return program::OpenMap(std::move(from), [name, parts](const Element& element) {
          return program::PackParts(element, name, parts);
        });
      });
}

Result<std::int64_t> Dataset::Cardinality() const {
  PSTRAIN_ASSIGN_OR_RETURN(const DataNodePtr opened, plan_->open());
  const std::optional<std::uint64_t> size = opened->size();
  if (!size) return kUnknownCardinality;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return *size > kMost ? kInfiniteCardinality : static_cast<std::int64_t>(*size);
}

Result<Iterator> Dataset::Iterate() const {
  PSTRAIN_ASSIGN_OR_RETURN(DataNodePtr opened, plan_->open());
  return program::ReadingOf(std::move(opened));
}

DatasetFunction::DatasetFunction(std::string name, Body body, const std::source_location& where)
    : name_(std::move(name)) {
  program::DatasetRegistry::Global().Add(
      name_, body, std::string(where.file_name()) + ":" + std::to_string(where.line()));
}

}  // namespace pstrain
