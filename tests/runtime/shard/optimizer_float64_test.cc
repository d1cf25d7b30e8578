#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/shard/optimizer.h"
#include "tests/runtime/shard/every_optimizer.h"

namespace pstrain {
namespace {

/// Squares of 3, 4 and 5 times it are whole in float64, and far beyond the whole numbers of
/// float32.
constexpr double kBig = (1 << 24) + 1;

/// A value and its slots after steps of a dense partition of one element.
struct One {
  double value = 0;
  std::vector<double> slots;
};

One Stepped(const Optimizer& optimizer, const std::vector<double>& gradients) {
  const auto rule = OptimizerRule::Create(optimizer).value();
  ValueArray value(std::vector<double>{0});
  std::vector<ValueArray> slots;
  for (const OptimizerSlot& slot : rule->slots()) {
    slots.emplace_back(std::vector<double>{slot.initial_value});
  }
  for (const double gradient : gradients) {
    EXPECT_TRUE(rule->Apply(value, slots, std::vector<double>{gradient}));
  }
  One one{value.of<double>()[0], {}};
  for (const ValueArray& slot : slots) one.slots.push_back(slot.of<double>()[0]);
  return one;
}

TEST(OptimizerFloat64, Sgd_HasTheClosedForm) {
  Optimizer sgd;
  sgd.mutable_sgd()->set_learning_rate(0.5);
  EXPECT_EQ(Stepped(sgd, {kBig, kBig + 2}).value, -(kBig + 1));
}

// lr 1, epsilon 1, accumulator 0: value = -g1 / (|g1| + 1) - g2 / (sqrt(g1^2 + g2^2) + 1).
TEST(OptimizerFloat64, Adagrad_HasTheClosedForm) {
  Optimizer adagrad;
  adagrad.mutable_adagrad()->set_learning_rate(1);
  adagrad.mutable_adagrad()->set_epsilon(1);
  const One one = Stepped(adagrad, {3 * kBig, 4 * kBig});
  EXPECT_EQ(one.slots, std::vector<double>{25 * kBig * kBig});
  EXPECT_EQ(one.value, 0.0 - 3 * kBig / (3 * kBig + 1) - 4 * kBig / (5 * kBig + 1));
  EXPECT_NE(one.value, static_cast<double>(static_cast<float>(one.value)));
}

// lr 1, power -1/2, l2 1/2: linear = g1 + g2 - (5 - 3) k value1, value = -linear / (5 k + 1).
TEST(OptimizerFloat64, Ftrl_HasTheClosedForm) {
  Optimizer ftrl;
  ftrl.mutable_ftrl()->set_learning_rate(1);
  ftrl.mutable_ftrl()->set_learning_rate_power(-0.5);
  ftrl.mutable_ftrl()->set_l2_regularization_strength(0.5);
  const double first = -3 * kBig / (3 * kBig + 1);
  EXPECT_EQ(Stepped(ftrl, {3 * kBig}).value, first);
  const One one = Stepped(ftrl, {3 * kBig, 4 * kBig});
  const double linear = 3 * kBig + (4 * kBig - 2 * kBig * first);
  EXPECT_EQ(one.slots, (std::vector<double>{25 * kBig * kBig, linear}));
  EXPECT_EQ(one.value, -linear / (5 * kBig + 1));
}

// Numbers that are no float32 are used as the job has them.
TEST(OptimizerFloat64, TheJobsNumbers_AreNotRoundedToFloat32) {
  Optimizer sgd;
  sgd.mutable_sgd()->set_learning_rate(0.1);
  EXPECT_EQ(Stepped(sgd, {1}).value, -0.1);
  Optimizer adagrad;
  adagrad.mutable_adagrad()->set_learning_rate(0.1);
  adagrad.mutable_adagrad()->set_initial_accumulator_value(0.1);
  const One one = Stepped(adagrad, {1});
  EXPECT_EQ(one.slots, std::vector<double>{0.1 + 1});
  EXPECT_EQ(one.value, -(0.1 / std::sqrt(0.1 + 1)));
}

TEST(OptimizerFloat64, Rows_EqualADenseStepBitByBit) {
  constexpr std::size_t kCount = 37;
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer).value();
    ASSERT_TRUE(rule->Takes(DType::kFloat64)) << name;
    std::vector<double> start(kCount);
    std::vector<double> gradients(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      start[i] = 0.1 * static_cast<double>(i) - 4;
      gradients[i] = 0.3 * static_cast<double>(i % 7) - 1;
    }
    ValueArray values(start);
    std::vector<ValueArray> slots;
    std::vector<double> row = start;
    for (const OptimizerSlot& slot : rule->slots()) {
      slots.emplace_back(std::vector<double>(kCount, slot.initial_value));
      row.insert(row.end(), kCount, slot.initial_value);
    }
    std::byte* const rows[] = {reinterpret_cast<std::byte*>(row.data())};
    for (int step = 0; step < 3; ++step) {
      EXPECT_TRUE(rule->Apply(values, slots, gradients)) << name;
      EXPECT_TRUE(rule->ApplyRows(rows, kCount, gradients)) << name;
    }
    std::vector<double> dense = values.of<double>();
    for (const ValueArray& slot : slots) {
      dense.insert(dense.end(), slot.of<double>().begin(), slot.of<double>().end());
    }
    EXPECT_EQ(row, dense) << name;
  }
}

TEST(OptimizerFloat64, WhenAValueOrASlotIsNotFiniteAfterwards_SaysSo) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer).value();
    ValueArray values(std::vector<double>{1});
    std::vector<ValueArray> slots(rule->slots().size(), ValueArray(std::vector<double>{0.5}));
    EXPECT_FALSE(rule->Apply(values, slots, std::vector<double>{INFINITY})) << name;
  }
}

}  // namespace
}  // namespace pstrain
