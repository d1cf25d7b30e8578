#include <cmath>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyAdagradV2, for rows raw_ops.ResourceSparseApplyAdagradV2 (with epsilon 0
/// ResourceApplyAdagrad), update_slots = true:
///   accumulator += g * g
///   value       -= lr * g / (sqrt(accumulator) + epsilon)
/// epsilon is outside the root, as in the raw kernels; tf.keras has it inside.
struct AdagradKernel {
  static constexpr std::size_t kSlots = 1;
  float learning_rate = 0;
  float epsilon = 0;

  void Step(float* __restrict values, float* __restrict accumulators,
            const float* __restrict gradients, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const float gradient = gradients[i];
      const float accumulator = accumulators[i] + gradient * gradient;
      accumulators[i] = accumulator;
      values[i] -= learning_rate * gradient / (std::sqrt(accumulator) + epsilon);
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateAdagrad(const Adagrad& numbers) {
  AdagradKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.epsilon, ZeroOrAbove(numbers.epsilon(), "epsilon"));
  PSTRAIN_ASSIGN_OR_RETURN(const float initial, ZeroOrAbove(numbers.initial_accumulator_value(),
                                                            "initialAccumulatorValue"));
  // 0 / 0 would turn a value into NaN on the first zero gradient.
  if (kernel.epsilon == 0 && initial == 0) {
    return InvalidArgumentError("optimizer: epsilon and initialAccumulatorValue are both 0");
  }
  return MakeRule(kernel, {OptimizerSlot{"accumulator", initial}});
}

}  // namespace pstrain
