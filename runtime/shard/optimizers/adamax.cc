#include <algorithm>
#include <cmath>
#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyAdaMax; on rows as Adam (adam_kernel.h):
///   step  += 1
///   m     += (g - m) * (1 - beta_1)
///   v      = max(v * beta_2, |g|)
///   value -= lr / (1 - beta_1^step) * m / (v + epsilon)
struct AdamaxKernel {
  static constexpr std::size_t kSlots = 2;
  static constexpr std::size_t kNumbers = 1;
  double learning_rate = 0;
  double beta_1 = 0;
  double beta_2 = 0;
  double epsilon = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict means, T* __restrict largest, T* __restrict steps,
            const T* __restrict gradients, std::size_t count) const {
    const auto keep_mean = static_cast<T>(beta_1);
    const auto keep_largest = static_cast<T>(beta_2);
    const auto bias = static_cast<T>(epsilon);
    *steps += 1;
    const T rate = static_cast<T>(learning_rate) / (1 - std::pow(keep_mean, *steps));
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T mean = means[i] + (gradient - means[i]) * (1 - keep_mean);
      const T large = std::max(largest[i] * keep_largest, std::abs(gradient));
      means[i] = mean;
      largest[i] = large;
      values[i] -= rate * mean / (large + bias);
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateAdamax(const Adamax& numbers) {
  AdamaxKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.beta_1, BelowOne(numbers.beta_1(), "beta1"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.beta_2, AtMostOne(numbers.beta_2(), "beta2"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.epsilon, Epsilon(numbers.epsilon()));
  return MakeRule(kernel, {OptimizerSlot{"m", 0}, OptimizerSlot{"v", 0}, OptimizerSlot{"step", 0}});
}

}  // namespace pstrain
