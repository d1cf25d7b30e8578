#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// tf.keras.optimizers.Lion:
///   value -= lr * sign(m * beta_1 + g * (1 - beta_1))
///   m      = m * beta_2 + g * (1 - beta_2)
struct LionKernel {
  static constexpr std::size_t kSlots = 1;
  double learning_rate = 0;
  double beta_1 = 0;
  double beta_2 = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict means, const T* __restrict gradients,
            std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    const auto of_mean = static_cast<T>(beta_1);
    const auto keep_mean = static_cast<T>(beta_2);
    for (std::size_t i = 0; i < count; ++i) {
      const T direction = means[i] * of_mean + gradients[i] * (1 - of_mean);
      means[i] = means[i] * keep_mean + gradients[i] * (1 - keep_mean);
      values[i] -= rate * (static_cast<T>(direction > 0) - static_cast<T>(direction < 0));
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateLion(const Lion& numbers) {
  LionKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.beta_1, AtMostOne(numbers.beta_1(), "beta1"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.beta_2, AtMostOne(numbers.beta_2(), "beta2"));
  return MakeRule(kernel, {OptimizerSlot{"m", 0}});
}

}  // namespace pstrain
