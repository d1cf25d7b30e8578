#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "library/data/transforms.h"

namespace pstrain::program {
namespace {

/// The same tensor as the only row of one with an axis more.
Result<Tensor> AsRow(const Tensor& tensor) {
  std::vector<std::int64_t> sizes = {1};
  sizes.insert(sizes.end(), tensor.shape().sizes().begin(), tensor.shape().sizes().end());
  return tensor.Reshape(Shape(std::move(sizes)));
}

/// REQUIRES: !elements.empty().
Result<Element> Stack(const std::vector<Element>& elements) {
  Element batch;
  for (const NamedTensor& named : elements.front()) {
    std::vector<Tensor> rows;
    rows.reserve(elements.size());
    for (const Element& element : elements) {
      const Tensor* const tensor = element.Find(named.name);
      if (tensor == nullptr || element.size() != elements.front().size()) {
        return InvalidArgumentError("Batch: elements differ in the names of their tensors");
      }
      if (tensor->dtype() != named.value.dtype() || tensor->shape() != named.value.shape()) {
        return InvalidArgumentError("Batch: " + named.name + " is " + named.value.ToString() +
                                    " in one element and " + tensor->ToString() +
                                    " in another; make them equal in a Map");
      }
      PSTRAIN_ASSIGN_OR_RETURN(Tensor row, AsRow(*tensor));
      rows.push_back(std::move(row));
    }
    PSTRAIN_ASSIGN_OR_RETURN(Tensor stacked, Concat(rows));
    batch.Set(named.name, std::move(stacked));
  }
  return batch;
}

class Batches final : public DataNode {
 public:
  Batches(DataNodePtr from, std::uint64_t size, bool drop_remainder)
      : from_(std::move(from)), of_one_(size), drop_remainder_(drop_remainder) {}

  std::optional<std::uint64_t> size() const override {
    const std::optional<std::uint64_t> all = from_->size();
    if (!all || *all == kForever) return all;
    return *all / of_one_ + (*all % of_one_ != 0 && !drop_remainder_ ? 1 : 0);
  }

  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    if (index >= kForever / of_one_) return std::optional<Element>();
    std::vector<Element> elements;
    const std::uint64_t first = index * of_one_;
    for (std::uint64_t i = 0; i < of_one_; ++i) {
      PSTRAIN_ASSIGN_OR_RETURN(std::optional<Element> element, from_->Get(pass, first + i));
      if (!element) break;
      elements.push_back(*std::move(element));
    }
    if (elements.empty() || (drop_remainder_ && elements.size() < of_one_)) {
      return std::optional<Element>();
    }
    PSTRAIN_ASSIGN_OR_RETURN(Element batch, Stack(elements));
    return std::optional(std::move(batch));
  }

 private:
  const DataNodePtr from_;
  const std::uint64_t of_one_;
  const bool drop_remainder_;
};

}  // namespace

Result<DataNodePtr> OpenBatch(DataNodePtr from, std::int64_t size, bool drop_remainder) {
  if (size < 1) {
    return InvalidArgumentError("Batch: the size is " + std::to_string(size) +
                                ", and has to be at least 1");
  }
  return DataNodePtr(
      std::make_shared<Batches>(std::move(from), static_cast<std::uint64_t>(size), drop_remainder));
}

Result<Element> PackParts(const Element& element, const std::string& name,
                          const std::vector<std::string>& parts) {
  std::vector<Tensor> flat;
  for (const std::string& part : parts) {
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor tensor, element.Get(part));
    PSTRAIN_ASSIGN_OR_RETURN(Tensor row,
                             tensor.Reshape({static_cast<std::int64_t>(tensor.size())}));
    if (!flat.empty() && row.dtype() != flat.front().dtype()) {
      return InvalidArgumentError("Pack: " + parts.front() + " is " +
                                  DTypeName(flat.front().dtype()) + " and " + part + " is " +
                                  DTypeName(row.dtype()));
    }
    flat.push_back(std::move(row));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor packed, Concat(flat));
  Element made;
  for (const NamedTensor& named : element) {
    if (std::ranges::find(parts, named.name) == parts.end()) {
      made.Set(named.name, named.value);
    } else if (named.name == parts.front()) {
      made.Set(name, packed);
    }
  }
  return made;
}

}  // namespace pstrain::program
