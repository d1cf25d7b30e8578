#include <cmath>
#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// tf.keras.optimizers.Nadam; on rows as Adam (adam_kernel.h):
///   step     += 1
///   mu(t)     = beta_1 * (1 - 0.5 * 0.96^t)
///   momentum_schedule *= mu(step)
///   m        += (g - m) * (1 - beta_1)
///   v        += (g * g - v) * (1 - beta_2)
///   mhat      = mu(step + 1) * m / (1 - momentum_schedule * mu(step + 1))
///             + (1 - mu(step)) * g / (1 - momentum_schedule)
///   value    -= lr * mhat / (sqrt(v / (1 - beta_2^step)) + epsilon)
struct NadamKernel {
  static constexpr std::size_t kSlots = 2;
  static constexpr std::size_t kNumbers = 2;
  double learning_rate = 0;
  double beta_1 = 0;
  double beta_2 = 0;
  double epsilon = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict means, T* __restrict squares, T* __restrict steps,
            T* __restrict schedule, const T* __restrict gradients, std::size_t count) const {
    const auto keep_mean = static_cast<T>(beta_1);
    const auto keep_square = static_cast<T>(beta_2);
    const T step = *steps + 1;
    const auto momentum = [keep_mean](T at) {
      return keep_mean * (1 - static_cast<T>(0.5) * std::pow(static_cast<T>(0.96), at));
    };
    const T now = momentum(step);
    const T next = momentum(step + 1);
    const T product = *schedule * now;
    *steps = step;
    *schedule = product;
    const auto rate = static_cast<T>(learning_rate);
    const auto bias = static_cast<T>(epsilon);
    const T of_mean = next / (1 - product * next);
    const T of_gradient = (1 - now) / (1 - product);
    const T of_square = 1 / (1 - std::pow(keep_square, step));
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T mean = means[i] + (gradient - means[i]) * (1 - keep_mean);
      const T square = squares[i] + (gradient * gradient - squares[i]) * (1 - keep_square);
      means[i] = mean;
      squares[i] = square;
      values[i] -=
          rate * (of_mean * mean + of_gradient * gradient) / (std::sqrt(square * of_square) + bias);
    }
  }
};

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateNadam(const Nadam& numbers) {
  NadamKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.beta_1, BelowOne(numbers.beta_1(), "beta1"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.beta_2, BelowOne(numbers.beta_2(), "beta2"));
  PSTRAIN_ASSIGN_OR_RETURN(kernel.epsilon, Epsilon(numbers.epsilon()));
  return MakeRule(kernel, {OptimizerSlot{"m", 0}, OptimizerSlot{"v", 0}, OptimizerSlot{"step", 0},
                           OptimizerSlot{"momentum_schedule", 1}});
}

}  // namespace pstrain
