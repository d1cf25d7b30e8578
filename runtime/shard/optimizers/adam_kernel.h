#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <memory>

#include "runtime/shard/optimizers/kernel_rule.h"

namespace pstrain {

/// Adam, which is Adam or AdamW: without weight decay and amsgrad raw_ops.ResourceApplyAdam, with
/// amsgrad raw_ops.ResourceApplyAdamWithAmsgrad, with weight decay tf.keras.optimizers.AdamW:
///   step  += 1
///   value -= lr * weight_decay * value
///   m     += (g - m) * (1 - beta_1)
///   v     += (g * g - v) * (1 - beta_2)
///   vhat   = max(vhat, v)
///   value -= lr * sqrt(1 - beta_2^step) / (1 - beta_1^step) * m / (sqrt(v or vhat) + epsilon)
/// TensorFlow has no kernel for rows. tf.keras moves all rows in each step; here a batch moves the
/// rows that it touches, and each counts its own steps (docs/design/optimizer-steps.md). Values;
/// any thread.
template <bool kAmsgrad>
struct AdamKernel {
  static constexpr std::size_t kSlots = kAmsgrad ? 3 : 2;
  static constexpr std::size_t kNumbers = 1;
  double learning_rate = 0;
  double beta_1 = 0;
  double beta_2 = 0;
  double epsilon = 0;
  double weight_decay = 0;

  template <std::floating_point T>
    requires(!kAmsgrad)
  void Step(T* __restrict values, T* __restrict means, T* __restrict squares, T* __restrict steps,
            const T* __restrict gradients, std::size_t count) const {
    const auto divisor = [](std::size_t, T square) { return square; };
    StepWith(divisor, values, means, squares, steps, gradients, count);
  }

  template <std::floating_point T>
    requires kAmsgrad
  void Step(T* __restrict values, T* __restrict means, T* __restrict squares, T* __restrict largest,
            T* __restrict steps, const T* __restrict gradients, std::size_t count) const {
    const auto divisor = [largest](std::size_t i, T square) {
      return largest[i] = std::max(largest[i], square);
    };
    StepWith(divisor, values, means, squares, steps, gradients, count);
  }

 private:
  template <typename Divisor, typename T>
  void StepWith(Divisor divisor, T* __restrict values, T* __restrict means, T* __restrict squares,
                T* __restrict steps, const T* __restrict gradients, std::size_t count) const {
    const auto keep_mean = static_cast<T>(beta_1);
    const auto keep_square = static_cast<T>(beta_2);
    const T step = *steps + 1;
    *steps = step;
    const T rate = static_cast<T>(learning_rate) * std::sqrt(1 - std::pow(keep_square, step)) /
                   (1 - std::pow(keep_mean, step));
    const T decay = static_cast<T>(learning_rate) * static_cast<T>(weight_decay);
    const auto bias = static_cast<T>(epsilon);
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T mean = means[i] + (gradient - means[i]) * (1 - keep_mean);
      const T square = squares[i] + (gradient * gradient - squares[i]) * (1 - keep_square);
      means[i] = mean;
      squares[i] = square;
      const T value = values[i] - decay * values[i];
      values[i] = value - rate * mean / (std::sqrt(divisor(i, square)) + bias);
    }
  }
};

/// `numbers`: Adam or AdamW, of a manifest.
template <typename Message>
Result<std::shared_ptr<const OptimizerRule>> CreateAdamRule(const Message& numbers,
                                                            double weight_decay) {
  AdamKernel<false> plain;
  PSTRAIN_ASSIGN_OR_RETURN(plain.learning_rate, AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(plain.beta_1, BelowOne(numbers.beta_1(), "beta1"));
  PSTRAIN_ASSIGN_OR_RETURN(plain.beta_2, BelowOne(numbers.beta_2(), "beta2"));
  PSTRAIN_ASSIGN_OR_RETURN(plain.epsilon, Epsilon(numbers.epsilon()));
  PSTRAIN_ASSIGN_OR_RETURN(plain.weight_decay, ZeroOrAbove(weight_decay, "weightDecay"));
  const OptimizerSlot mean{"m", 0};
  const OptimizerSlot square{"v", 0};
  const OptimizerSlot step{"step", 0};
  if (!numbers.amsgrad()) return MakeRule(plain, {mean, square, step});
  AdamKernel<true> amsgrad;
  amsgrad.learning_rate = plain.learning_rate;
  amsgrad.beta_1 = plain.beta_1;
  amsgrad.beta_2 = plain.beta_2;
  amsgrad.epsilon = plain.epsilon;
  amsgrad.weight_decay = plain.weight_decay;
  return MakeRule(amsgrad, {mean, square, OptimizerSlot{"vhat", 0}, step});
}

}  // namespace pstrain
