#include <cmath>
#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyFtrlV2, for rows raw_ops.ResourceSparseApplyFtrlV2 (with l2_shrinkage 0
/// ResourceApplyFtrl and ResourceSparseApplyFtrl), multiply_linear_by_lr = false, p = -lr_power:
///   shrunk       = g + 2 * l2_shrinkage * value
///   sum          = accumulator + g * g
///   linear      += shrunk - (sum^p - accumulator^p) / lr * value
///   accumulator  = sum
///   value        = |linear| <= l1 ? 0 : (sign(linear) * l1 - linear) / (sum^p / lr + 2 * l2)
/// with l2 + beta / (2 * lr) for l2, as tf.keras.optimizers.Ftrl has its beta.
/// The value is made from the slots alone: what it was initialised to is gone after its first step.
struct FtrlKernel {
  static constexpr std::size_t kSlots = 2;
  double learning_rate = 0;
  double learning_rate_power = 0;
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict accumulators, T* __restrict linears,
            const T* __restrict gradients, std::size_t count) const {
    // As TensorFlow does: the usual power is a root, which is exact and many times faster.
    const auto exponent = static_cast<T>(-learning_rate_power);
    if (exponent == T{0.5}) {
      const auto root = [](T sum) { return std::sqrt(sum); };
      return StepWith(root, values, accumulators, linears, gradients, count);
    }
    const auto power = [exponent](T sum) { return std::pow(sum, exponent); };
    StepWith(power, values, accumulators, linears, gradients, count);
  }

  template <typename Power, typename T>
  void StepWith(Power power, T* __restrict values, T* __restrict accumulators,
                T* __restrict linears, const T* __restrict gradients, std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    const auto lasso = static_cast<T>(l1);
    const auto ridge = static_cast<T>(l2);
    const auto shrinkage = static_cast<T>(l2_shrinkage);
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T value = values[i];
      const T sum = accumulators[i] + gradient * gradient;
      const T sum_power = power(sum);
      const T shrunk = gradient + 2 * shrinkage * value;
      const T linear = linears[i] + (shrunk - (sum_power - power(accumulators[i])) / rate * value);
      const T step = (std::copysign(lasso, linear) - linear) / (sum_power / rate + 2 * ridge);
      accumulators[i] = sum;
      linears[i] = linear;
      values[i] = std::abs(linear) > lasso ? step : T{0};
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateFtrl(const Ftrl& numbers) {
  FtrlKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  // The field is at most 0; the other functions know only numbers from 0 on.
  PSTRAIN_ASSIGN_OR_RETURN(const double power,
                           ZeroOrAbove(-numbers.learning_rate_power(), "minus learningRatePower"));
  kernel.learning_rate_power = -power;
  PSTRAIN_ASSIGN_OR_RETURN(
      kernel.l1, ZeroOrAbove(numbers.l1_regularization_strength(), "l1RegularizationStrength"));
  PSTRAIN_ASSIGN_OR_RETURN(
      kernel.l2, ZeroOrAbove(numbers.l2_regularization_strength(), "l2RegularizationStrength"));
  PSTRAIN_ASSIGN_OR_RETURN(const double beta, ZeroOrAbove(numbers.beta(), "beta"));
  kernel.l2 += beta / (2 * kernel.learning_rate);
  PSTRAIN_ASSIGN_OR_RETURN(kernel.l2_shrinkage,
                           ZeroOrAbove(numbers.l2_shrinkage_regularization_strength(),
                                       "l2ShrinkageRegularizationStrength"));
  PSTRAIN_ASSIGN_OR_RETURN(const double initial, ZeroOrAbove(numbers.initial_accumulator_value(),
                                                             "initialAccumulatorValue"));
  // A gradient whose square is 0 in float32 would divide by zero.
  if (static_cast<float>(initial) == 0 && static_cast<float>(kernel.l2) == 0 && power > 0) {
    return InvalidArgumentError(
        "optimizer: initialAccumulatorValue, l2RegularizationStrength and beta are all 0");
  }
  return MakeRule(kernel, {OptimizerSlot{"accumulator", initial}, OptimizerSlot{"linear", 0}});
}

}  // namespace pstrain
