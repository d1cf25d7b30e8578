#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyGradientDescent; for rows raw_ops.ResourceScatterSub of lr * g:
///   value -= lr * g
struct SgdKernel {
  static constexpr std::size_t kSlots = 0;
  float learning_rate = 0;
  /// As the job has it, for float64.
  double whole_learning_rate = 0;

  void Step(float* __restrict values, const float* __restrict gradients, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) values[i] -= learning_rate * gradients[i];
  }
  void Step(double* __restrict values, const double* __restrict gradients,
            std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) values[i] -= whole_learning_rate * gradients[i];
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateSgd(const Sgd& numbers) {
  SgdKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  kernel.whole_learning_rate = numbers.learning_rate();
  return MakeRule(kernel, {});
}

}  // namespace pstrain
