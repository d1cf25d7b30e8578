#pragma once

// Included by one file per instruction set, each of which gives Eigen's namespace another name, so
// that the linker cannot mix their inline functions. Pure; any thread.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "runtime/model/layers/dense_kernels.h"

namespace pstrain {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> In(const float* data, std::size_t rows, std::size_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}
Eigen::Map<Matrix> Out(float* data, std::size_t rows, std::size_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

[[maybe_unused]] void Multiply(std::size_t m, std::size_t k, std::size_t n, const float* a,
                               const float* b, float* c) {
  Out(c, m, n).noalias() = In(a, m, k) * In(b, k, n);
}

[[maybe_unused]] void MultiplyLeftTransposed(std::size_t m, std::size_t k, std::size_t n,
                                             const float* a, const float* b, float* c) {
  Out(c, k, n).noalias() = In(a, m, k).transpose() * In(b, m, n);
}

[[maybe_unused]] void MultiplyRightTransposed(std::size_t m, std::size_t k, std::size_t n,
                                              const float* a, const float* b, float* c) {
  Out(c, m, k).noalias() = In(a, m, n) * In(b, k, n).transpose();
}

}  // namespace
}  // namespace pstrain
