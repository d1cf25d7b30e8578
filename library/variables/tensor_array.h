#pragma once

#include <pstrain/tensor.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "library/variables/variable_table.h"
#include "runtime/requests/values.h"

namespace pstrain::program {

/// Arrays of the runtime as tensors of the library, and back. Pure; any thread.

/// Over the memory of `values`. INVALID_ARGUMENT: another number of elements.
inline Result<Tensor> ToTensor(const Shape& shape, ValueArray values) {
  const auto kept = std::make_shared<const ValueArray>(std::move(values));
  return Tensor::Over(kept->dtype(), shape, kept->bytes().data(), kept);
}

/// A copy. REQUIRES: a dtype that variables have.
inline ValueArray ToArray(const Tensor& tensor) {
  ValueArray values(tensor.dtype(), tensor.size());
  if (!tensor.empty()) {
    std::memcpy(values.bytes().data(), tensor.bytes().data(), tensor.bytes().size());
  }
  return values;
}

/// Of rows that are looked up: the shape of `ids`, followed by that of a row. REQUIRES: the
/// variable is no scalar.
inline Shape ShapeOfRows(const Tensor& ids, const ProgramVariable& variable) {
  std::vector<std::int64_t> sizes = ids.shape().sizes();
  const std::vector<std::int64_t>& of_variable = variable.shape.sizes();
  sizes.insert(sizes.end(), of_variable.begin() + 1, of_variable.end());
  return Shape(std::move(sizes));
}

}  // namespace pstrain::program
