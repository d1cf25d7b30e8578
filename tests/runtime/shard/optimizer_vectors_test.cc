#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/os/cpu_vectors.h"
#include "base/random.h"
#include "tests/runtime/shard/every_optimizer.h"

namespace pstrain {
namespace {

/// What is left in memory after some steps, as bits: of rows, slots behind the values.
template <typename T>
using Bits = std::vector<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <typename T>
Bits<T> BitsOf(const std::vector<T>& values) {
  Bits<T> bits;
  for (const T value : values) {
    bits.push_back(std::bit_cast<typename Bits<T>::value_type>(value));
  }
  return bits;
}

template <typename T>
std::vector<T> Draw(Rng& rng, std::size_t size) {
  std::vector<T> values(size);
  // Of many magnitudes, so that a sum that is rounded otherwise shows.
  for (T& value : values) {
    value = static_cast<T>((rng.NextDouble() - 0.5) * std::exp2(static_cast<int>(rng.Next() % 12)));
  }
  return values;
}

constexpr int kSteps = 5;
/// 0: a partition.
constexpr std::size_t kDimensions[] = {0, 1, 2, 3, 7, 15, 16, 17, 33};
constexpr std::size_t kCounts[] = {0, 1, 2, 3, 5, 15, 16, 17, 31, 63, 64, 65, 131};

/// `count` rows that lie in no order and begin at odd elements.
template <typename T>
Bits<T> RowsAfterSteps(const OptimizerRule& rule, std::size_t count, std::size_t dimension) {
  Rng rng(Mix64(count, dimension));
  std::size_t stride = dimension + 1;
  for (const OptimizerSlot& slot : rule.slots()) stride += slot.OfRow(dimension);
  std::vector<T> memory = Draw<T>(rng, count * stride + 1);
  std::vector<std::byte*> rows;
  for (std::size_t i = 0; i < count; ++i) {
    T* row = memory.data() + (count - 1 - i) * stride + 1;
    rows.push_back(reinterpret_cast<std::byte*>(row));
    row += dimension;
    for (const OptimizerSlot& slot : rule.slots()) {
      std::fill_n(row, slot.OfRow(dimension), static_cast<T>(slot.initial_value));
      row += slot.OfRow(dimension);
    }
  }
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_TRUE(rule.ApplyRows(rows, dimension, Draw<T>(rng, count * dimension)));
  }
  return BitsOf(memory);
}

template <typename T>
Bits<T> PartitionAfterSteps(const OptimizerRule& rule, std::size_t count) {
  Rng rng(count);
  auto partition = Stepped<T>::Partition(rule, Draw<T>(rng, count));
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_TRUE(partition.StepPartition(rule, Draw<T>(rng, count)));
  }
  Bits<T> bits = BitsOf(partition.values);
  for (const std::vector<T>& slot : partition.slots) {
    const Bits<T> of_slot = BitsOf(slot);
    bits.insert(bits.end(), of_slot.begin(), of_slot.end());
  }
  return bits;
}

/// The widths of this processor beyond the baseline; says which it lacks.
std::vector<CpuVectors> WiderOnes() {
  std::vector<CpuVectors> wider;
  for (const CpuVectors vectors : {CpuVectors::kAvx2, CpuVectors::kAvx512}) {
    if (vectors <= WidestVectors()) {
      wider.push_back(vectors);
    } else {
      std::cout << "not tested: this processor has no " << NameOf(vectors) << "\n";
    }
  }
  return wider;
}

template <typename T>
void ExpectSameBits() {
  const CpuVectors before = VectorsInUse();
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << name << ": " << rule.status().ToString();
    for (const CpuVectors vectors : WiderOnes()) {
      const auto by = [&rule](CpuVectors used, std::size_t count, std::size_t dimension) {
        UseVectors(used);
        return dimension == 0 ? PartitionAfterSteps<T>(**rule, count)
                              : RowsAfterSteps<T>(**rule, count, dimension);
      };
      for (const std::size_t dimension : kDimensions) {
        for (const std::size_t count : kCounts) {
          ASSERT_EQ(by(vectors, count, dimension), by(CpuVectors::kBaseline, count, dimension))
              << name << ", " << NameOf(vectors) << ", " << count << " of " << dimension;
        }
      }
    }
  }
  UseVectors(before);
}

TEST(OptimizerVectors, WhenFloat32_EachWidthGivesTheBitsOfTheBaseline) { ExpectSameBits<float>(); }

TEST(OptimizerVectors, WhenFloat64_EachWidthGivesTheBitsOfTheBaseline) { ExpectSameBits<double>(); }

/// Rows of one value are put together; what they become is what each becomes alone.
TEST(OptimizerVectors, WhenRowsHaveOneValue_EachIsSteppedAsAlone) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << name;
    std::size_t stride = 1;
    for (const OptimizerSlot& slot : (*rule)->slots()) stride += slot.OfRow(1);
    Rng rng(7);
    constexpr std::size_t kCount = 67;
    std::vector<float> together(kCount * stride, 0.25F);
    std::vector<float> alone = together;
    std::vector<std::byte*> rows;
    for (std::size_t i = 0; i < kCount; ++i) {
      rows.push_back(reinterpret_cast<std::byte*>(&together[i * stride]));
    }
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<float> gradients = Draw<float>(rng, kCount);
      EXPECT_TRUE((*rule)->ApplyRows(rows, 1, gradients)) << name;
      for (std::size_t i = 0; i < kCount; ++i) {
        std::byte* const row[] = {reinterpret_cast<std::byte*>(&alone[i * stride])};
        EXPECT_TRUE((*rule)->ApplyRows(row, 1, ValueView(gradients).Part(i, 1))) << name;
      }
    }
    EXPECT_EQ(BitsOf(together), BitsOf(alone)) << name;
  }
}

/// A row that overflows is seen wherever it lies among those that are put together.
TEST(OptimizerVectors, WhenOneValueIsNotFinite_TheStepSaysSo) {
  const CpuVectors before = VectorsInUse();
  Optimizer optimizer;
  optimizer.mutable_sgd()->set_learning_rate(1);
  const auto rule = OptimizerRule::Create(optimizer);
  ASSERT_TRUE(rule.ok());
  for (const CpuVectors vectors : kAllCpuVectors) {
    if (vectors > WidestVectors()) continue;
    UseVectors(vectors);
    for (const std::size_t bad : {0U, 15U, 63U, 64U, 66U}) {
      std::vector<float> values(67, 1.0F);
      std::vector<std::byte*> rows;
      for (float& value : values) rows.push_back(reinterpret_cast<std::byte*>(&value));
      std::vector<float> gradients(67, 1.0F);
      EXPECT_TRUE((*rule)->ApplyRows(rows, 1, gradients));
      gradients[bad] = std::numeric_limits<float>::infinity();
      EXPECT_FALSE((*rule)->ApplyRows(rows, 1, gradients)) << bad;
    }
  }
  UseVectors(before);
}

}  // namespace
}  // namespace pstrain
