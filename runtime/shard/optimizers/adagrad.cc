#include <cmath>
#include <concepts>

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
  double learning_rate = 0;
  double epsilon = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict accumulators, const T* __restrict gradients,
            std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    const auto bias = static_cast<T>(epsilon);
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T accumulator = accumulators[i] + gradient * gradient;
      accumulators[i] = accumulator;
      values[i] -= rate * gradient / (std::sqrt(accumulator) + bias);
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateAdagrad(const Adagrad& numbers) {
  AdagradKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.epsilon, ZeroOrAbove(numbers.epsilon(), "epsilon"));
  PSTRAIN_ASSIGN_OR_RETURN(const double initial, ZeroOrAbove(numbers.initial_accumulator_value(),
                                                             "initialAccumulatorValue"));
  // 0 / 0 would turn a value into NaN on the first zero gradient.
  if (static_cast<float>(kernel.epsilon) == 0 && static_cast<float>(initial) == 0) {
    return InvalidArgumentError("optimizer: epsilon and initialAccumulatorValue are both 0");
  }
  return MakeRule(kernel, {OptimizerSlot{"accumulator", initial}});
}

}  // namespace pstrain
