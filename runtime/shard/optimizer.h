#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/requests/values.h"

namespace pstrain {

/// An array of the variable's size that an optimizer keeps beside the values.
struct OptimizerSlot {
  /// As TensorFlow's optimizers call it, e.g. "accumulator"; lives as long as the program.
  std::string_view name;
  double initial_value = 0;
};

/// One optimizer with its numbers: what a step does to values and slots, as TensorFlow's kernels
/// compute it, in the dtype of the variable. Which ones there are:
/// runtime/shard/optimizers/optimizer_table.h; an optimizer may have any number of slots, which
/// tables, checkpoints and moves carry without knowing what they mean. Immutable; any thread.
class OptimizerRule {
 public:
  /// INVALID_ARGUMENT when none is set or a number does not fit.
  static Result<std::shared_ptr<const OptimizerRule>> Create(const Optimizer& optimizer);

  virtual ~OptimizerRule() = default;
  OptimizerRule(const OptimizerRule&) = delete;
  OptimizerRule& operator=(const OptimizerRule&) = delete;

  const std::vector<OptimizerSlot>& slots() const { return slots_; }

  /// Whether it can train variables of that dtype.
  virtual bool Takes(DType dtype) const = 0;

  /// One step of all elements. False when a value or a slot is infinite or not a number afterwards.
  /// REQUIRES: slots.size() == slots().size(); all arrays have the same size and dtype, which it
  /// takes.
  virtual bool Apply(ValueArray& values, std::span<ValueArray> slots,
                     const ValueView& gradients) const = 0;

  /// One step of rows, each `dimension` values followed by its slots in turn; gradients lie row
  /// after row, and have the rows' dtype. False as Apply. REQUIRES: no row twice, it takes the
  /// dtype.
  virtual bool ApplyRows(std::span<std::byte* const> rows, std::size_t dimension,
                         const ValueView& gradients) const = 0;

 protected:
  explicit OptimizerRule(std::vector<OptimizerSlot> slots) : slots_(std::move(slots)) {}

 private:
  const std::vector<OptimizerSlot> slots_;
};

}  // namespace pstrain
