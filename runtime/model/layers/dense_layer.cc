#include "runtime/model/layers/dense_layer.h"

#include <algorithm>

#include "base/os/cpu_vectors.h"
#include "runtime/model/layers/dense_kernels.h"

namespace pstrain {
namespace {

const DenseKernels& Kernels() { return DenseKernelsFor(VectorsInUse()); }

}  // namespace

const DenseKernels& DenseKernelsFor([[maybe_unused]] CpuVectors vectors) {
#ifdef PSTRAIN_HAS_X86_KERNELS
  if (vectors == CpuVectors::kAvx512) return kDenseKernelsAvx512;
  if (vectors == CpuVectors::kAvx2) return kDenseKernelsAvx2;
#endif
  return kDenseKernelsBaseline;
}

void DenseForward(const DenseShape& shape, std::span<const float> x, std::span<const float> kernel,
                  std::span<const float> bias, std::span<float> y) {
  if (shape.rows == 0) return;
  Kernels().multiply(shape.rows, shape.in, shape.out, x.data(), kernel.data(), y.data());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    float* const out = y.data() + row * shape.out;
    for (std::size_t i = 0; i < shape.out; ++i) out[i] += bias[i];
  }
}

void DenseBackward(const DenseShape& shape, std::span<const float> x, std::span<const float> kernel,
                   std::span<const float> dy, std::span<float> dkernel, std::span<float> dbias,
                   std::span<float> dx) {
  std::fill(dbias.begin(), dbias.end(), 0.0F);
  if (shape.rows == 0) {
    std::fill(dkernel.begin(), dkernel.end(), 0.0F);
    return;
  }
  Kernels().multiply_left_transposed(shape.rows, shape.in, shape.out, x.data(), dy.data(),
                                     dkernel.data());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* const in = dy.data() + row * shape.out;
    for (std::size_t i = 0; i < shape.out; ++i) dbias[i] += in[i];
  }
  if (!dx.empty()) {
    Kernels().multiply_right_transposed(shape.rows, shape.in, shape.out, dy.data(), kernel.data(),
                                        dx.data());
  }
}

void ReluForward(std::span<float> y) {
  for (float& value : y) value = std::max(value, 0.0F);
}

void ReluBackward(std::span<const float> y, std::span<float> dy) {
  // Stored in any case: a loop with a store under a condition is not vectorised.
  for (std::size_t i = 0; i < y.size(); ++i) dy[i] = y[i] > 0 ? dy[i] : 0;
}

}  // namespace pstrain
