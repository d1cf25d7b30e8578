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

/// raw_ops.ResourceApplyKerasMomentum, for rows raw_ops.ResourceSparseApplyKerasMomentum:
///   momentum = momentum * mu - lr * g
///   value   += momentum, with Nesterov momentum * mu - lr * g
/// raw_ops.ResourceApplyMomentum moves values alike at a rate that stays; its slot is -1 / lr times
/// this one.
template <bool kNesterov>
struct MomentumKernel {
  static constexpr std::size_t kSlots = 1;
  double learning_rate = 0;
  double momentum = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict momenta, const T* __restrict gradients,
            std::size_t count) const {
    const auto rate = static_cast<T>(learning_rate);
    const auto kept = static_cast<T>(momentum);
    for (std::size_t i = 0; i < count; ++i) {
      const T step = rate * gradients[i];
      const T moved = momenta[i] * kept - step;
      momenta[i] = moved;
      values[i] += kNesterov ? moved * kept - step : moved;
    }
  }
};

template <bool kNesterov>
std::shared_ptr<const OptimizerRule> MakeMomentum(double learning_rate, double momentum) {
  MomentumKernel<kNesterov> kernel;
  kernel.learning_rate = learning_rate;
  kernel.momentum = momentum;
  return MakeRule(kernel, {OptimizerSlot{"momentum", 0}});
}

}  // namespace

Result<std::shared_ptr<const OptimizerRule>> CreateSgd(const Sgd& numbers) {
  SgdKernel kernel;
  PSTRAIN_ASSIGN_OR_RETURN(kernel.learning_rate,
                           AboveZero(numbers.learning_rate(), "learningRate"));
  PSTRAIN_ASSIGN_OR_RETURN(const double momentum, AtMostOne(numbers.momentum(), "momentum"));
  if (momentum == 0 && numbers.nesterov()) {
    return InvalidArgumentError("optimizer: nesterov does nothing without momentum");
  }
  if (momentum == 0) return MakeRule(kernel, {});
  return numbers.nesterov() ? MakeMomentum<true>(kernel.learning_rate, momentum)
                            : MakeMomentum<false>(kernel.learning_rate, momentum);
}

}  // namespace pstrain
