#include "runtime/model/layers/dense_layer.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace pstrain {
namespace {

std::vector<float> Draw(Rng& rng, std::size_t size) {
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(rng.NextDouble() - 0.5);
  return values;
}

TEST(DenseLayer, WhenComparedWithPlainLoops_GivesTheSameProducts) {
  Rng rng(5);
  for (const DenseShape& shape :
       {DenseShape{1, 1, 1}, DenseShape{7, 13, 5}, DenseShape{33, 70, 1}}) {
    const auto [rows, in, out] = shape;
    const std::vector<float> x = Draw(rng, rows * in);
    const std::vector<float> kernel = Draw(rng, in * out);
    const std::vector<float> bias = Draw(rng, out);
    const std::vector<float> dy = Draw(rng, rows * out);
    std::vector<float> y(rows * out);
    DenseForward(shape, x, kernel, bias, y);
    std::vector<float> dkernel(in * out);
    std::vector<float> dbias(out);
    std::vector<float> dx(rows * in);
    DenseBackward(shape, x, kernel, dy, dkernel, dbias, dx);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t o = 0; o < out; ++o) {
        double sum = bias[o];
        for (std::size_t i = 0; i < in; ++i) sum += double{x[r * in + i]} * kernel[i * out + o];
        EXPECT_NEAR(y[r * out + o], sum, 1e-5);
      }
      for (std::size_t i = 0; i < in; ++i) {
        double sum = 0;
        for (std::size_t o = 0; o < out; ++o) sum += double{dy[r * out + o]} * kernel[i * out + o];
        EXPECT_NEAR(dx[r * in + i], sum, 1e-5);
      }
    }
    for (std::size_t o = 0; o < out; ++o) {
      double bias_sum = 0;
      for (std::size_t r = 0; r < rows; ++r) bias_sum += dy[r * out + o];
      EXPECT_NEAR(dbias[o], bias_sum, 1e-5);
      for (std::size_t i = 0; i < in; ++i) {
        double sum = 0;
        for (std::size_t r = 0; r < rows; ++r) sum += double{x[r * in + i]} * dy[r * out + o];
        EXPECT_NEAR(dkernel[i * out + o], sum, 1e-5);
      }
    }
  }
}

TEST(DenseLayer, WhenThereAreNoRows_GradientsAreZero) {
  std::vector<float> dkernel(6, 1.0F);
  std::vector<float> dbias(3, 1.0F);
  DenseBackward({0, 2, 3}, {}, std::vector<float>(6), {}, dkernel, dbias, {});
  EXPECT_EQ(dkernel, std::vector<float>(6));
  EXPECT_EQ(dbias, std::vector<float>(3));
}

}  // namespace
}  // namespace pstrain
