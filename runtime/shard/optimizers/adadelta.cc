#include <cmath>
#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyAdadelta, for rows raw_ops.ResourceSparseApplyAdadelta:
///   accum_grad = accum_grad * rho + g * g * (1 - rho)
///   step       = sqrt(accum_var + epsilon) / sqrt(accum_grad + epsilon) * g
///   value     -= lr * step
///   accum_var  = accum_var * rho + step * step * (1 - rho)
struct AdadeltaKernel {
  static constexpr std::size_t kSlots = 2;
  double learning_rate = 0;
  double rho = 0;
  double epsilon = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict gradient_squares, T* __restrict step_squares,
            const T* __restrict gradients, std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    const auto keep = static_cast<T>(rho);
    const auto bias = static_cast<T>(epsilon);
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T square = gradient_squares[i] * keep + gradient * gradient * (1 - keep);
      const T step = std::sqrt(step_squares[i] + bias) / std::sqrt(square + bias) * gradient;
      gradient_squares[i] = square;
      step_squares[i] = step_squares[i] * keep + step * step * (1 - keep);
      values[i] -= rate * step;
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateAdadelta(const Adadelta& numbers) {
  AdadeltaKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.rho, AtMostOne(numbers.rho(), "rho"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.epsilon, Epsilon(numbers.epsilon()));
  return MakeRule(kernel, {OptimizerSlot{"accum_grad", 0}, OptimizerSlot{"accum_var", 0}});
}

}  // namespace pstrain
