#pragma once

#include <pstrain/tensor.h>

namespace pstrain {

/// Rows of a variable or of an embedding table, and something for each of them: a gradient, or
/// values. Mirrors tf.IndexedSlices. A value.
struct IndexedSlices {
  /// Ids of rows, int32 or int64, of any shape and in any order. An id may come several times.
  Tensor indices;
  /// The shape of `indices`, followed by that of a row; the dtype of the variable. So the gradient
  /// of what Step::Lookup has returned is of the shape of that.
  Tensor values;
};

}  // namespace pstrain
