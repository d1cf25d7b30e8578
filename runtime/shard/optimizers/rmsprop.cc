#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>

#include "runtime/shard/optimizers/kernel_rule.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {
namespace {

/// raw_ops.ResourceApplyRMSProp and ResourceApplyCenteredRMSProp, for rows
/// raw_ops.ResourceSparseApplyRMSProp and ResourceSparseApplyCenteredRMSProp:
///   rms      += (g * g - rms) * (1 - rho)
///   mg       += (g - mg) * (1 - rho), centered
///   step      = lr * g / sqrt(rms + epsilon), centered lr * g / sqrt(rms - mg * mg + epsilon)
///   momentum  = momentum * mu + step
///   value    -= momentum
/// Without momentum the step itself is taken off and no slot is kept. rms - mg * mg is a variance,
/// which rounding can make negative: where TensorFlow then has NaN, it is 0 here.
template <bool kCentered, bool kMomentum>
struct RmspropKernel {
  static constexpr std::size_t kSlots = 1 + (kCentered ? 1 : 0) + (kMomentum ? 1 : 0);
  double learning_rate = 0;
  double rho = 0;
  double momentum = 0;
  double epsilon = 0;

  template <std::floating_point T>
    requires(!kCentered && !kMomentum)
  void Step(T* __restrict values, T* __restrict squares, const T* __restrict gradients,
            std::size_t count) const {
    StepWith<T>(values, squares, nullptr, nullptr, gradients, count);
  }
  template <std::floating_point T>
    requires(kCentered != kMomentum)
  void Step(T* __restrict values, T* __restrict squares, T* __restrict other,
            const T* __restrict gradients, std::size_t count) const {
    if constexpr (kCentered) {
      StepWith<T>(values, squares, other, nullptr, gradients, count);
    } else {
      StepWith<T>(values, squares, nullptr, other, gradients, count);
    }
  }
  template <std::floating_point T>
    requires(kCentered && kMomentum)
  void Step(T* __restrict values, T* __restrict squares, T* __restrict means, T* __restrict momenta,
            const T* __restrict gradients, std::size_t count) const {
    StepWith<T>(values, squares, means, momenta, gradients, count);
  }

 private:
  template <typename T>
  void StepWith(T* __restrict values, T* __restrict squares, [[maybe_unused]] T* __restrict means,
                [[maybe_unused]] T* __restrict momenta, const T* __restrict gradients,
                std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    const auto keep = static_cast<T>(rho);
    [[maybe_unused]] const auto mu = static_cast<T>(momentum);
    const auto bias = static_cast<T>(epsilon);
    for (std::size_t i = 0; i < count; ++i) {
      const T gradient = gradients[i];
      const T square = squares[i] + (gradient * gradient - squares[i]) * (1 - keep);
      squares[i] = square;
      T variance = square;
      if constexpr (kCentered) {
        const T mean = means[i] + (gradient - means[i]) * (1 - keep);
        means[i] = mean;
        variance = std::max(square - mean * mean, T{0});
      }
      T step = rate * gradient / std::sqrt(variance + bias);
      if constexpr (kMomentum) {
        step += momenta[i] * mu;
        momenta[i] = step;
      }
      values[i] -= step;
    }
  }
};

template <bool kCentered, bool kMomentum>
std::shared_ptr<const OptimizerRule> Make(const RmspropKernel<false, false>& numbers) {
  RmspropKernel<kCentered, kMomentum> kernel;
  kernel.learning_rate = numbers.learning_rate;
  kernel.rho = numbers.rho;
  kernel.momentum = numbers.momentum;
  kernel.epsilon = numbers.epsilon;
  std::array<OptimizerSlot, kSlotsOf<RmspropKernel<kCentered, kMomentum>>> slots;
  slots.front() = {"rms", 0};
  if constexpr (kCentered) slots[1] = {"mg", 0};
  if constexpr (kMomentum) slots.back() = {"momentum", 0};
  return MakeRule(kernel, slots);
}

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateRmsprop(const Rmsprop& numbers) {
  RmspropKernel<false, false> plain;
  PSTRAIN_ASSIGN_OR_RETURN(plain.learning_rate, AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(plain.rho, BelowOne(numbers.rho(), "rho"));
  PSTRAIN_ASSIGN_OR_RETURN(plain.momentum, AtMostOne(numbers.momentum(), "momentum"));
  PSTRAIN_ASSIGN_OR_RETURN(plain.epsilon, Epsilon(numbers.epsilon()));
  const bool momentum = plain.momentum > 0;
  if (numbers.centered()) return momentum ? Make<true, true>(plain) : Make<true, false>(plain);
  return momentum ? Make<false, true>(plain) : Make<false, false>(plain);
}

}  // namespace pstrain
