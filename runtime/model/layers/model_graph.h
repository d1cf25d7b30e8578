#pragma once

#include <cstddef>
#include <span>

namespace pstrain {

/// What a model builds to say how it computes its scores, so that another program can compute the
/// same: a graph of tensors of float32. Each is [records, width], or a dense variable by its own
/// shape. Whoever makes a format of it implements this class; a model calls it from one thread.
class ModelGraph {
 public:
  /// A tensor of the graph that made it; a value.
  struct Tensor {
    std::size_t id = 0;
  };
  /// What becomes of several ids that a record has of one feature. No id gives zeros.
  enum class Combine : bool { kSum, kMean };

  virtual ~ModelGraph() = default;

  /// [records, 1] of zeros.
  virtual Tensor Zeros() = 0;
  /// The dense variable of that id.
  virtual Tensor Dense(std::size_t variable) = 0;
  /// [records, 1]: the numbers of the feature at that position, which is numeric.
  virtual Tensor Number(std::size_t feature) = 0;
  /// [records, dimension]: the rows that the ids of the feature name in a table; `request` is the
  /// table's position in BatchPlan::requests.
  virtual Tensor Rows(std::size_t request, std::size_t feature, Combine combine) = 0;

  /// Side by side. REQUIRES: at least one.
  virtual Tensor Concat(std::span<const Tensor> parts) = 0;
  /// [records, in] times the variable [in, out].
  virtual Tensor MatMul(Tensor a, Tensor kernel) = 0;
  /// By element. `b` is as wide as `a`, or a variable of that many elements, for each record.
  virtual Tensor Add(Tensor a, Tensor b) = 0;
  virtual Tensor Multiply(Tensor a, Tensor b) = 0;
  virtual Tensor Scale(Tensor a, float factor) = 0;
  /// max(a, 0).
  virtual Tensor Relu(Tensor a) = 0;
  /// [records, 1]: the sum of each record's elements.
  virtual Tensor RowSums(Tensor a) = 0;
};

}  // namespace pstrain
