#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// An array of the variable's size that an optimizer keeps beside the values.
struct OptimizerSlot {
  /// As TensorFlow's optimizers call it, e.g. "accumulator"; lives as long as the program.
  std::string_view name;
  float initial_value = 0;
};

/// One optimizer with its numbers: what a step does to values and slots, in float32 as TensorFlow's
/// kernels compute it. Which ones there are: runtime/shard/optimizers/optimizer_table.h; an
/// optimizer may have any number of slots, which tables, checkpoints and moves carry without
/// knowing what they mean. Immutable; any thread.
class OptimizerRule {
 public:
  /// INVALID_ARGUMENT when none is set or a number does not fit.
  static Result<std::shared_ptr<const OptimizerRule>> Create(const Optimizer& optimizer);

  virtual ~OptimizerRule() = default;
  OptimizerRule(const OptimizerRule&) = delete;
  OptimizerRule& operator=(const OptimizerRule&) = delete;

  const std::vector<OptimizerSlot>& slots() const { return slots_; }

  /// One step of `count` elements that lie together; slots[s] is that long too. False when a value
  /// or a slot is infinite or not a number afterwards.
  /// REQUIRES: slots.size() == slots().size(), no two arrays overlap.
  virtual bool Apply(float* values, std::span<std::vector<float>> slots, const float* gradients,
                     std::size_t count) const = 0;

  /// One step of rows, each `dimension` values followed by its slots in turn; gradients lie row
  /// after row. False as Apply. REQUIRES: no row twice.
  virtual bool ApplyRows(std::span<float* const> rows, std::size_t dimension,
                         const float* gradients) const = 0;

 protected:
  explicit OptimizerRule(std::vector<OptimizerSlot> slots) : slots_(std::move(slots)) {}

 private:
  const std::vector<OptimizerSlot> slots_;
};

}  // namespace pstrain
