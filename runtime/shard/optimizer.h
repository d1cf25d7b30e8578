#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// An optimizer's rule, in float32 as TensorFlow's kernels compute it:
///   SGD      value -= lr * g                                  (ResourceApplyGradientDescent)
///   Adagrad  accum += g * g; value -= lr * g / (sqrt(accum) + epsilon)   (ResourceApplyAdagradV2)
/// A value; any thread.
class OptimizerRule {
 public:
  enum class Kind : std::uint8_t { kSgd, kAdagrad };

  /// INVALID_ARGUMENT when no kind is set or a number does not fit.
  static Result<OptimizerRule> Create(const Optimizer& optimizer);

  Kind kind() const { return kind_; }
  /// Arrays of the variable's size that the rule keeps beside the values.
  std::size_t slots() const { return kind_ == Kind::kAdagrad ? 1 : 0; }
  /// E.g. "accumulator". REQUIRES: slot < slots().
  std::string_view SlotName(std::size_t slot) const;
  float SlotInitialValue(std::size_t slot) const;

  /// One step of `count` elements that lie together; `slots` is the first slot, or null without.
  void Apply(float* values, float* slots, const float* gradients, std::size_t count) const;

  /// One step of rows, each `dimension` values followed by its slots; gradients lie row after row.
  void ApplyRows(std::span<float* const> rows, std::size_t dimension, const float* gradients) const;

 private:
  Kind kind_ = Kind::kSgd;
  float learning_rate_ = 0;
  float epsilon_ = 0;
  float initial_accumulator_ = 0;
};

}  // namespace pstrain
