#pragma once

#include <pstrain/dtype.h>
#include <pstrain/status.h>
#include <pstrain/tensor.h>

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace pstrain {

/// Optional: Eigen's maps over our tensors, for programs that have Eigen 3. Nothing is copied: a
/// map is valid as long as its tensor or a copy of it lives. Pure functions; any thread.
template <typename T>
using MatrixMap =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <typename T>
using VectorMap = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

/// A tensor of two axes as a matrix of rows and columns. INVALID_ARGUMENT: another dtype, or
/// another number of axes.
template <TensorElement T>
Result<MatrixMap<T>> AsMatrix(const Tensor& tensor) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::span<const T> values, tensor.data<T>());
  if (tensor.shape().rank() != 2) {
    return InvalidArgumentError("tensor of " + tensor.ToString() + ": a matrix has two axes");
  }
  return MatrixMap<T>(values.data(), tensor.shape()[0], tensor.shape()[1]);
}

/// A tensor of one axis as a column. INVALID_ARGUMENT: another dtype, or another number of axes.
template <TensorElement T>
Result<VectorMap<T>> AsVector(const Tensor& tensor) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::span<const T> values, tensor.data<T>());
  if (tensor.shape().rank() != 1) {
    return InvalidArgumentError("tensor of " + tensor.ToString() + ": a vector has one axis");
  }
  return VectorMap<T>(values.data(), tensor.shape()[0]);
}

/// A map over a tensor that nobody keeps would point nowhere.
template <TensorElement T>
void AsMatrix(Tensor&& tensor) = delete;
template <TensorElement T>
void AsVector(Tensor&& tensor) = delete;

/// The value of an expression of Eigen: what is a row or a column when compiled has one axis, all
/// else two. Mirrors tf.convert_to_tensor.
template <typename Derived>
Tensor ToTensor(const Eigen::DenseBase<Derived>& expression) {
  using T = typename Derived::Scalar;
  using Rows = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<T> values(static_cast<std::size_t>(expression.size()));
  Eigen::Map<Rows> rows(values.data(), expression.rows(), expression.cols());
  // An Array takes the elements of a matrix too, but only when it is told so.
  if constexpr (std::is_same_v<typename Eigen::internal::traits<Derived>::XprKind,
                               Eigen::MatrixXpr>) {
    rows.matrix() = expression.derived();
  } else {
    rows = expression.derived();
  }
  Tensor tensor = Tensor::From(std::move(values));
  if constexpr (Derived::IsVectorAtCompileTime) return tensor;
  // The shape has as many elements by construction.
  return tensor.Reshape({expression.rows(), expression.cols()}).value();
}

}  // namespace pstrain
