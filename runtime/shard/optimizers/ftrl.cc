#include <cmath>

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
/// The value is made from the slots alone: what it was initialised to is gone after its first step.
struct FtrlKernel {
  static constexpr std::size_t kSlots = 2;
  float learning_rate = 0;
  float learning_rate_power = 0;
  float l1 = 0;
  float l2 = 0;
  float l2_shrinkage = 0;

  void Step(float* __restrict values, float* __restrict accumulators, float* __restrict linears,
            const float* __restrict gradients, std::size_t count) const {
    // As TensorFlow does: the usual power is a root, which is exact and many times faster.
    if (learning_rate_power == -0.5f) {
      const auto root = [](float sum) { return std::sqrt(sum); };
      return StepWith(root, values, accumulators, linears, gradients, count);
    }
    const auto power = [p = -learning_rate_power](float sum) { return std::pow(sum, p); };
    StepWith(power, values, accumulators, linears, gradients, count);
  }

  template <typename Power>
  void StepWith(Power power, float* __restrict values, float* __restrict accumulators,
                float* __restrict linears, const float* __restrict gradients,
                std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const float gradient = gradients[i];
      const float value = values[i];
      const float sum = accumulators[i] + gradient * gradient;
      const float sum_power = power(sum);
      const float shrunk = gradient + 2 * l2_shrinkage * value;
      const float linear =
          linears[i] + (shrunk - (sum_power - power(accumulators[i])) / learning_rate * value);
      const float step =
          (std::copysign(l1, linear) - linear) / (sum_power / learning_rate + 2 * l2);
      accumulators[i] = sum;
      linears[i] = linear;
      values[i] = std::abs(linear) > l1 ? step : 0.0f;
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateFtrl(const Ftrl& numbers) {
  FtrlKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  // The field is at most 0; the other functions know only numbers from 0 on.
  PSTRAIN_ASSIGN_OR_RETURN(const float power,
                           ZeroOrAbove(-numbers.learning_rate_power(), "minus learningRatePower"));
  kernel.learning_rate_power = -power;
  PSTRAIN_ASSIGN_OR_RETURN(
      kernel.l1, ZeroOrAbove(numbers.l1_regularization_strength(), "l1RegularizationStrength"));
  PSTRAIN_ASSIGN_OR_RETURN(
      kernel.l2, ZeroOrAbove(numbers.l2_regularization_strength(), "l2RegularizationStrength"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.l2_shrinkage,
                           ZeroOrAbove(numbers.l2_shrinkage_regularization_strength(),
                                       "l2ShrinkageRegularizationStrength"));
  PSTRAIN_ASSIGN_OR_RETURN(const float initial, ZeroOrAbove(numbers.initial_accumulator_value(),
                                                            "initialAccumulatorValue"));
  // A gradient whose square is 0 in float32 would divide by zero.
  if (initial == 0 && kernel.l2 == 0 && power > 0) {
    return InvalidArgumentError(
        "optimizer: initialAccumulatorValue and l2RegularizationStrength are both 0");
  }
  return MakeRule(kernel, {OptimizerSlot{"accumulator", initial}, OptimizerSlot{"linear", 0}});
}

}  // namespace pstrain
