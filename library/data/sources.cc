#include "library/data/sources.h"

#include <string>
#include <utility>

namespace pstrain::program {
namespace {

class Slices final : public DataNode {
 public:
  Slices(Values tensors, std::uint64_t rows) : tensors_(std::move(tensors)), rows_(rows) {}

  std::optional<std::uint64_t> size() const override { return rows_; }
  Result<std::optional<Element>> Get(std::uint64_t, std::uint64_t index) const override {
    if (index >= rows_) return std::optional<Element>();
    const auto row = static_cast<std::int64_t>(index);
    Element element;
    for (const NamedTensor& named : tensors_) {
      PSTRAIN_ASSIGN_OR_RETURN(const Tensor slice, named.value.Slice(row, row + 1));
      PSTRAIN_ASSIGN_OR_RETURN(Tensor value, slice.Reshape(named.value.shape().row()));
      element.Set(named.name, std::move(value));
    }
    return std::optional(std::move(element));
  }

 private:
  const Values tensors_;
  const std::uint64_t rows_;
};

class One final : public DataNode {
 public:
  explicit One(Values tensors) : tensors_(std::move(tensors)) {}

  std::optional<std::uint64_t> size() const override { return 1; }
  Result<std::optional<Element>> Get(std::uint64_t, std::uint64_t index) const override {
    return index == 0 ? std::optional<Element>(tensors_) : std::nullopt;
  }

 private:
  const Values tensors_;
};

class Range final : public DataNode {
 public:
  Range(std::int64_t start, std::int64_t step, std::uint64_t size)
      : start_(start), step_(step), size_(size) {}

  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::optional<Element>> Get(std::uint64_t, std::uint64_t index) const override {
    if (index >= size_) return std::optional<Element>();
    // Wraps around on the way to what fits.
    const std::uint64_t value =
        static_cast<std::uint64_t>(start_) + index * static_cast<std::uint64_t>(step_);
    return std::optional(Element{{"value", static_cast<std::int64_t>(value)}});
  }

 private:
  const std::int64_t start_;
  const std::int64_t step_;
  const std::uint64_t size_;
};

}  // namespace

Result<DataNodePtr> OpenSlices(const Values& tensors) {
  if (tensors.empty()) return InvalidArgumentError("FromTensorSlices: no tensor is given");
  const NamedTensor& first = *tensors.begin();
  for (const NamedTensor& named : tensors) {
    const Shape& shape = named.value.shape();
    if (shape.is_scalar()) {
      return InvalidArgumentError("FromTensorSlices: " + named.name +
                                  " is a scalar, which has no " +
                                  "rows; use FromTensors for one element");
    }
    if (shape[0] != first.value.shape()[0]) {
      return InvalidArgumentError("FromTensorSlices: " + named.name + " has " +
                                  std::to_string(shape[0]) + " rows and " + first.name + " has " +
                                  std::to_string(first.value.shape()[0]));
    }
  }
  const auto rows = static_cast<std::uint64_t>(first.value.shape()[0]);
  return DataNodePtr(std::make_shared<Slices>(tensors, rows));
}

DataNodePtr OpenOne(Values tensors) { return std::make_shared<One>(std::move(tensors)); }

Result<DataNodePtr> OpenRange(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) return InvalidArgumentError("Range: the step is 0");
  const auto from = static_cast<std::uint64_t>(start);
  const auto to = static_cast<std::uint64_t>(stop);
  const bool up = step > 0;
  const std::uint64_t width =
      up ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  std::uint64_t size = 0;
  if (up ? start < stop : start > stop) size = ((up ? to - from : from - to) - 1) / width + 1;
  return DataNodePtr(std::make_shared<Range>(start, step, size));
}

}  // namespace pstrain::program
