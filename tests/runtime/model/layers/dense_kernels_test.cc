#include "runtime/model/layers/dense_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/random.h"

namespace pstrain {
namespace {

std::vector<float> Draw(Rng& rng, std::size_t size) {
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(rng.NextDouble() - 0.5);
  return values;
}

struct Shape {
  std::size_t m = 0;
  std::size_t k = 0;
  std::size_t n = 0;
};

/// Full vectors, what is left over from them, single rows and columns, and none.
constexpr Shape kShapes[] = {{37, 51, 19}, {1, 1, 1},    {7, 13, 5},    {33, 70, 1},
                             {1, 64, 17},  {16, 16, 16}, {48, 33, 64},  {65, 129, 47},
                             {15, 31, 33}, {2, 200, 3},  {14, 300, 96}, {30, 600, 530},
                             {0, 3, 4},    {3, 0, 4},    {3, 4, 0},     {0, 0, 0}};

/// Those of this processor; says which it lacks.
std::vector<CpuVectors> VectorsOfCpu() {
  std::vector<CpuVectors> all;
  for (const CpuVectors vectors : kAllCpuVectors) {
    if (vectors <= WidestVectors()) {
      all.push_back(vectors);
    } else {
      std::cout << "not tested: this processor has no " << NameOf(vectors) << "\n";
    }
  }
  return all;
}

/// A matrix that begins at an odd element, between others that nobody may change.
class Placed {
 public:
  explicit Placed(std::size_t size) : elements_(size + 2, kUntouched) {}
  explicit Placed(const std::vector<float>& values) : Placed(values.size()) {
    std::copy(values.begin(), values.end(), elements_.begin() + 1);
  }
  float* data() { return elements_.data() + 1; }
  float operator[](std::size_t i) const { return elements_[i + 1]; }
  bool IsAloneChanged() const {
    return elements_.front() == kUntouched && elements_.back() == kUntouched;
  }

 private:
  static constexpr float kUntouched = 12345;
  std::vector<float> elements_;
};

/// result[row, column] = sum over i of of(row, column, i)
template <typename Of>
void ExpectSums(const Placed& result, std::size_t rows, std::size_t columns, std::size_t terms,
                Of of) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::size_t i = 0; i < terms; ++i) sum += of(row, column, i);
      ASSERT_NEAR(result[row * columns + column], sum, 1e-5) << row << ", " << column;
    }
  }
  EXPECT_TRUE(result.IsAloneChanged());
}

TEST(DenseKernels, WhateverTheShape_EachSetGivesThePlainSums) {
  for (const CpuVectors vectors : VectorsOfCpu()) {
    const DenseKernels& kernels = DenseKernelsFor(vectors);
    for (const auto& [m, k, n] : kShapes) {
      SCOPED_TRACE(std::string(NameOf(vectors)) + ": " + std::to_string(m) + " x " +
                   std::to_string(k) + " x " + std::to_string(n));
      Rng rng(6);
      Placed mk(Draw(rng, m * k));
      Placed kn(Draw(rng, k * n));
      Placed mn(Draw(rng, m * n));
      Placed product(m * n);
      kernels.multiply(m, k, n, mk.data(), kn.data(), product.data());
      ExpectSums(product, m, n, k, [&](auto row, auto column, auto i) {
        return double{mk[row * k + i]} * kn[i * n + column];
      });
      Placed left(k * n);
      kernels.multiply_left_transposed(m, k, n, mk.data(), mn.data(), left.data());
      ExpectSums(left, k, n, m, [&](auto row, auto column, auto i) {
        return double{mk[i * k + row]} * mn[i * n + column];
      });
      Placed right(m * k);
      kernels.multiply_right_transposed(m, k, n, mn.data(), kn.data(), right.data());
      ExpectSums(right, m, k, n, [&](auto row, auto column, auto i) {
        return double{mn[row * n + i]} * kn[column * n + i];
      });
    }
  }
}

TEST(DenseKernels, WhenTheProcessorHasMore_AnotherSetIsUsed) {
  for (const CpuVectors vectors : VectorsOfCpu()) {
    for (const CpuVectors other : VectorsOfCpu()) {
      EXPECT_EQ(&DenseKernelsFor(vectors) == &DenseKernelsFor(other), vectors == other);
    }
  }
}

}  // namespace
}  // namespace pstrain
