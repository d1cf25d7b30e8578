#include "runtime/shard/optimizer.h"

#include <cmath>
#include <string>

namespace pstrain {
namespace {

Result<float> ToFloat(double value, const char* name, bool zero_allowed) {
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow) || value < 0 || (value == 0 && !zero_allowed)) {
    return InvalidArgumentError(std::string("optimizer: ") + name + " is " + std::to_string(value));
  }
  return narrow;
}

// The arrays of one call never overlap.
inline void SgdStep(float* __restrict values, const float* __restrict gradients, std::size_t count,
                    float learning_rate) {
  for (std::size_t i = 0; i < count; ++i) values[i] -= learning_rate * gradients[i];
}

inline void AdagradStep(float* __restrict values, float* __restrict accumulators,
                        const float* __restrict gradients, std::size_t count, float learning_rate,
                        float epsilon) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i];
    const float accumulator = accumulators[i] + gradient * gradient;
    accumulators[i] = accumulator;
    values[i] -= learning_rate * gradient / (std::sqrt(accumulator) + epsilon);
  }
}

}  // namespace

Result<OptimizerRule> OptimizerRule::Create(const Optimizer& optimizer) {
  OptimizerRule rule;
  if (optimizer.has_sgd()) {
    rule.kind_ = Kind::kSgd;
    PSTRAIN_ASSIGN_OR_RETURN(rule.learning_rate_,
                             ToFloat(optimizer.sgd().learning_rate(), "learningRate", false));
    return rule;
  }
  if (!optimizer.has_adagrad()) return InvalidArgumentError("optimizer: none is set");
  const Adagrad& adagrad = optimizer.adagrad();
  rule.kind_ = Kind::kAdagrad;
  PSTRAIN_ASSIGN_OR_RETURN(rule.learning_rate_,
                           ToFloat(adagrad.learning_rate(), "learningRate", false));
  PSTRAIN_ASSIGN_OR_RETURN(rule.epsilon_, ToFloat(adagrad.epsilon(), "epsilon", true));
  PSTRAIN_ASSIGN_OR_RETURN(rule.initial_accumulator_, ToFloat(adagrad.initial_accumulator_value(),
                                                              "initialAccumulatorValue", true));
  // 0 / 0 would turn a value into NaN on the first zero gradient.
  if (rule.epsilon_ == 0 && rule.initial_accumulator_ == 0) {
    return InvalidArgumentError("optimizer: epsilon and initialAccumulatorValue are both 0");
  }
  return rule;
}

std::string_view OptimizerRule::SlotName(std::size_t /*slot*/) const { return "accumulator"; }

float OptimizerRule::SlotInitialValue(std::size_t /*slot*/) const { return initial_accumulator_; }

void OptimizerRule::Apply(float* values, float* slots, const float* gradients,
                          std::size_t count) const {
  switch (kind_) {
    case Kind::kSgd:
      return SgdStep(values, gradients, count, learning_rate_);
    case Kind::kAdagrad:
      return AdagradStep(values, slots, gradients, count, learning_rate_, epsilon_);
  }
}

void OptimizerRule::ApplyRows(std::span<float* const> rows, std::size_t dimension,
                              const float* gradients) const {
  switch (kind_) {
    case Kind::kSgd:
      for (std::size_t i = 0; i < rows.size(); ++i) {
        SgdStep(rows[i], gradients + i * dimension, dimension, learning_rate_);
      }
      return;
    case Kind::kAdagrad:
      for (std::size_t i = 0; i < rows.size(); ++i) {
        AdagradStep(rows[i], rows[i] + dimension, gradients + i * dimension, dimension,
                    learning_rate_, epsilon_);
      }
      return;
  }
}

}  // namespace pstrain
