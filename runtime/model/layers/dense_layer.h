#pragma once

#include <cstddef>
#include <span>

namespace pstrain {

/// Sizes of a fully connected layer over a batch: [rows, in] x [in, out] -> [rows, out].
struct DenseShape {
  std::size_t rows = 0;
  std::size_t in = 0;
  std::size_t out = 0;
};

/// Fully connected layers, float32, row-major, one thread. Pure; any thread. Spans have exactly the
/// sizes of the shape.

/// y = x * kernel + bias (bias added to each row).
void DenseForward(const DenseShape& shape, std::span<const float> x, std::span<const float> kernel,
                  std::span<const float> bias, std::span<float> y);

/// Gradients of a layer from dy: dkernel = x^T * dy, dbias = sum of dy over rows,
/// dx = dy * kernel^T (left out when `dx` is empty).
void DenseBackward(const DenseShape& shape, std::span<const float> x, std::span<const float> kernel,
                   std::span<const float> dy, std::span<float> dkernel, std::span<float> dbias,
                   std::span<float> dx);

/// y = max(y, 0).
void ReluForward(std::span<float> y);

/// dy = 0 where the output y of the ReLU is 0.
void ReluBackward(std::span<const float> y, std::span<float> dy);

}  // namespace pstrain
