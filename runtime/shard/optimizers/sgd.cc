#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyGradientDescent; for rows raw_ops.ResourceScatterSub of lr * g:
///   value -= lr * g
struct SgdKernel {
  static constexpr std::size_t kSlots = 0;
  double learning_rate = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, const T* __restrict gradients, std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    for (std::size_t i = 0; i < count; ++i) values[i] -= rate * gradients[i];
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateSgd(const Sgd& numbers) {
  SgdKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  return MakeRule(kernel, {});
}

}  // namespace pstrain
