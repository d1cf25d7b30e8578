#include <cmath>
#include <concepts>
#include <memory>
#include <span>
#include <vector>

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

/// Of a row of a table, with one accumulator (FBGEMM's EXACT_ROWWISE_ADAGRAD):
///   accumulator += mean of g * g over the row
///   value       -= lr * g / (sqrt(accumulator) + epsilon)
struct RowWiseAdagradKernel {
  static constexpr std::size_t kSlots = 0;
  static constexpr std::size_t kNumbers = 1;
  double learning_rate = 0;
  double epsilon = 0;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict accumulator, const T* __restrict gradients,
            std::size_t count) const {
    T sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += gradients[i] * gradients[i];
    *accumulator += sum / static_cast<T>(count);
    const T divisor = std::sqrt(*accumulator) + static_cast<T>(epsilon);
    const auto rate = static_cast<T>(learning_rate);
    for (std::size_t i = 0; i < count; ++i) values[i] -= rate * gradients[i] / divisor;
  }
};

/// A dense variable has no rows that come and go, and how it is divided must not matter: its
/// partitions have an accumulator for each element.
class RowWiseAdagrad final : public OptimizerRule {
 public:
  RowWiseAdagrad(const AdagradKernel& numbers, OptimizerSlot accumulator)
      : OptimizerRule(std::vector<OptimizerSlot>{OptimizerSlot{
            accumulator.name, accumulator.initial_value, OptimizerSlot::Form::kOneOfRow}}),
        partitions_(MakeRule(numbers, {accumulator})),
        rows_(MakeRule(RowWiseAdagradKernel{numbers.learning_rate, numbers.epsilon},
                       {accumulator})) {}

  bool Takes(DType dtype) const override { return partitions_->Takes(dtype); }
  bool Apply(ValueArray& values, std::span<ValueArray> slots,
             const ValueView& gradients) const override {
    return partitions_->Apply(values, slots, gradients);
  }
  bool ApplyRows(std::span<std::byte* const> rows, std::size_t dimension,
                 const ValueView& gradients) const override {
    return rows_->ApplyRows(rows, dimension, gradients);
  }

 private:
  const std::shared_ptr<const OptimizerRule> partitions_;
  const std::shared_ptr<const OptimizerRule> rows_;
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
  const OptimizerSlot accumulator{"accumulator", initial};
  if (numbers.row_wise()) {
    return std::shared_ptr<const OptimizerRule>(
        std::make_shared<const RowWiseAdagrad>(kernel, accumulator));
  }
  return MakeRule(kernel, {accumulator});
}

}  // namespace pstrain
