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

One After(const Optimizer& optimizer, const std::vector<double>& gradients) {
  const auto rule = OptimizerRule::Create(optimizer).value();
  auto state = Stepped<double>::Partition(*rule, {0});
  for (const double gradient : gradients) EXPECT_TRUE(state.StepPartition(*rule, {gradient}));
  One one{state.values[0], {}};
  for (const auto& slot : state.slots) one.slots.push_back(slot[0]);
  return one;
}

TEST(OptimizerFloat64, Sgd_HasTheClosedForm) {
  Optimizer sgd;
  sgd.mutable_sgd()->set_learning_rate(0.5);
  EXPECT_EQ(After(sgd, {kBig, kBig + 2}).value, -(kBig + 1));
}

// lr 1, epsilon 1, accumulator 0: value = -g1 / (|g1| + 1) - g2 / (sqrt(g1^2 + g2^2) + 1).
TEST(OptimizerFloat64, Adagrad_HasTheClosedForm) {
  Optimizer adagrad;
  adagrad.mutable_adagrad()->set_learning_rate(1);
  adagrad.mutable_adagrad()->set_epsilon(1);
  const One one = After(adagrad, {3 * kBig, 4 * kBig});
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
  EXPECT_EQ(After(ftrl, {3 * kBig}).value, first);
  const One one = After(ftrl, {3 * kBig, 4 * kBig});
  const double linear = 3 * kBig + (4 * kBig - 2 * kBig * first);
  EXPECT_EQ(one.slots, (std::vector<double>{25 * kBig * kBig, linear}));
  EXPECT_EQ(one.value, -linear / (5 * kBig + 1));
}

// Numbers that are no float32 are used as the job has them.
TEST(OptimizerFloat64, TheJobsNumbers_AreNotRoundedToFloat32) {
  Optimizer sgd;
  sgd.mutable_sgd()->set_learning_rate(0.1);
  EXPECT_EQ(After(sgd, {1}).value, -0.1);
  Optimizer adagrad;
  adagrad.mutable_adagrad()->set_learning_rate(0.1);
  adagrad.mutable_adagrad()->set_initial_accumulator_value(0.1);
  const One one = After(adagrad, {1});
  EXPECT_EQ(one.slots, std::vector<double>{0.1 + 1});
  EXPECT_EQ(one.value, -(0.1 / std::sqrt(0.1 + 1)));
}

// lr 1, mu 1/2: the velocities are -g1 and -g1 / 2 - g2, and Nesterov takes half a velocity more.
TEST(OptimizerFloat64, Momentum_HasTheClosedForm) {
  Optimizer momentum;
  momentum.mutable_sgd()->set_learning_rate(1);
  momentum.mutable_sgd()->set_momentum(0.5);
  const One one = After(momentum, {kBig, 2 * kBig});
  EXPECT_EQ(one.slots, std::vector<double>{-2.5 * kBig});
  EXPECT_EQ(one.value, -3.5 * kBig);
  momentum.mutable_sgd()->set_nesterov(true);
  EXPECT_EQ(After(momentum, {kBig, 2 * kBig}).value, -1.5 * kBig - 3.25 * kBig);
}

// Of equal gradients both means, corrected, are the gradient and its square: each step is the rate,
// however many there were, which is what the correction is for.
TEST(OptimizerFloat64, Adam_MovesByTheRateWhenGradientsAreEqual) {
  for (const bool amsgrad : {false, true}) {
    Optimizer adam;
    adam.mutable_adam()->set_learning_rate(0.25);
    adam.mutable_adam()->set_beta_1(0.5);
    adam.mutable_adam()->set_beta_2(0.75);
    adam.mutable_adam()->set_epsilon(1e-30);
    adam.mutable_adam()->set_amsgrad(amsgrad);
    const One one = After(adam, {kBig, kBig, kBig, kBig});
    EXPECT_NEAR(one.value, -1, 1e-14);
    EXPECT_EQ(one.slots.front(), kBig * (1 - 1.0 / 16));
    EXPECT_EQ(one.slots.back(), 4) << "steps";
  }
}

// The values decay beside the gradient: without one nothing else changes them.
TEST(OptimizerFloat64, AdamW_DecaysBesideTheGradient) {
  Optimizer adam_w;
  adam_w.mutable_adam_w()->set_learning_rate(0.5);
  adam_w.mutable_adam_w()->set_weight_decay(0.5);
  adam_w.mutable_adam_w()->set_epsilon(1);
  const auto rule = OptimizerRule::Create(adam_w).value();
  auto state = Stepped<double>::Partition(*rule, {16});
  EXPECT_TRUE(state.StepPartition(*rule, {0}));
  EXPECT_TRUE(state.StepPartition(*rule, {0}));
  EXPECT_EQ(state.values[0], 9);
}

TEST(OptimizerFloat64, Lion_MovesEachElementByTheRateOrNotAtAll) {
  Optimizer lion;
  lion.mutable_lion()->set_learning_rate(0.25);
  lion.mutable_lion()->set_beta_1(0.5);
  lion.mutable_lion()->set_beta_2(0.5);
  EXPECT_EQ(After(lion, {kBig}).value, -0.25);
  EXPECT_EQ(After(lion, {0}).value, 0);
  // The mean is kBig / 2, half of which and half of the gradient decide.
  EXPECT_EQ(After(lion, {kBig, -kBig / 2}).value, -0.25);
  EXPECT_EQ(After(lion, {kBig, -kBig}).value, 0);
}

// One accumulator of a row: the mean of the squares 9, 16, 25 and 0, and the root of 12.5 for all.
TEST(OptimizerFloat64, RowWiseAdagrad_HasOneAccumulatorOfARow) {
  Optimizer adagrad;
  adagrad.mutable_adagrad()->set_learning_rate(1);
  adagrad.mutable_adagrad()->set_epsilon(1);
  adagrad.mutable_adagrad()->set_row_wise(true);
  const auto rule = OptimizerRule::Create(adagrad).value();
  auto row = Stepped<double>::Row(*rule, {0, 0, 0, 0});
  EXPECT_TRUE(row.StepRow(*rule, {3, -4, 5, 0}));
  EXPECT_EQ(row.slots, std::vector<std::vector<double>>{{12.5}});
  const double divisor = std::sqrt(12.5) + 1;
  EXPECT_EQ(row.values, (std::vector<double>{-3 / divisor, 4 / divisor, -5 / divisor, 0}));

  auto partition = Stepped<double>::Partition(*rule, {0, 0});
  EXPECT_TRUE(partition.StepPartition(*rule, {3, -4}));
  EXPECT_EQ(partition.slots, (std::vector<std::vector<double>>{{9, 16}}));
  EXPECT_EQ(partition.values, (std::vector<double>{-0.75, 0.8}));
}

// rms - mg^2 of equal gradients is 0 after enough steps, and rounding makes it less.
TEST(OptimizerFloat64, CenteredRmsprop_WhenTheVarianceIsZero_StaysFinite) {
  Optimizer rmsprop;
  rmsprop.mutable_rmsprop()->set_learning_rate(0.001);
  rmsprop.mutable_rmsprop()->set_rho(0.9);
  rmsprop.mutable_rmsprop()->set_epsilon(1e-12);
  rmsprop.mutable_rmsprop()->set_centered(true);
  const auto rule = OptimizerRule::Create(rmsprop).value();
  auto state = Stepped<float>::Partition(*rule, {0, 0, 0});
  for (int step = 0; step < 2000; ++step) {
    ASSERT_TRUE(state.StepPartition(*rule, {1.1F, 7.3F, 123.4F})) << step;
  }
}

TEST(OptimizerFloat64, Rows_EqualADenseStepBitByBit) { ExpectRowsEqualADenseStep<double>(); }

TEST(OptimizerFloat64, WhenAValueOrASlotIsNotFiniteAfterwards_SaysSo) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer).value();
    auto state = Stepped<double>::Partition(*rule, {1});
    EXPECT_FALSE(state.StepPartition(*rule, {INFINITY})) << name;
  }
}

}  // namespace
}  // namespace pstrain
