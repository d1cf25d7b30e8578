#pragma once

#include <cstddef>

#include "base/os/cpu_vectors.h"

namespace pstrain {

/// Matrix products of a dense layer for one instruction set. Row-major, no aliasing. Pure; any
/// thread.
struct DenseKernels {
  /// c[m, n] = a[m, k] * b[k, n]
  void (*multiply)(std::size_t m, std::size_t k, std::size_t n, const float* a, const float* b,
                   float* c);
  /// c[k, n] = a[m, k]^T * b[m, n]
  void (*multiply_left_transposed)(std::size_t m, std::size_t k, std::size_t n, const float* a,
                                   const float* b, float* c);
  /// c[m, k] = a[m, n] * b[k, n]^T
  void (*multiply_right_transposed)(std::size_t m, std::size_t k, std::size_t n, const float* a,
                                    const float* b, float* c);
};

extern const DenseKernels kDenseKernelsBaseline;
/// Only on x86-64; REQUIRES: WidestVectors() is not below kAvx2, or kAvx512.
extern const DenseKernels kDenseKernelsAvx2;
extern const DenseKernels kDenseKernelsAvx512;

/// Those that are compiled for `vectors`. REQUIRES: not wider than WidestVectors().
const DenseKernels& DenseKernelsFor(CpuVectors vectors);

}  // namespace pstrain
