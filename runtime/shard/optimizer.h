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

/// What an optimizer keeps beside the values of a variable, in the variable's dtype.
struct OptimizerSlot {
  /// How many elements it has (docs/design/optimizer-steps.md).
  enum class Form {
    /// As many as the values.
    kElements,
    /// One for each row of a table; beside a dense partition as many as the values.
    kOneOfRow,
    /// One for each row of a table, and one for each dense partition.
    kOne,
  };
  /// As TensorFlow's optimizers call it, e.g. "accumulator"; lives as long as the program.
  std::string_view name;
  double initial_value = 0;
  Form form = Form::kElements;

  /// Elements beside a row of a table of so many values.
  std::size_t OfRow(std::size_t dimension) const { return form == Form::kElements ? dimension : 1; }
  /// Elements beside a dense partition of so many values.
  std::size_t OfPartition(std::size_t count) const { return form == Form::kOne ? 1 : count; }
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
  /// REQUIRES: slots.size() == slots().size(); values and gradients have the same size, each slot
  /// OfPartition of it; all have one dtype, which it takes.
  virtual bool Apply(ValueArray& values, std::span<ValueArray> slots,
                     const ValueView& gradients) const = 0;

  /// One step of rows, each `dimension` values followed by its slots in turn, OfRow elements of
  /// each; gradients lie row after row, and have the rows' dtype. False as Apply. REQUIRES: no row
  /// twice, it takes the dtype.
  virtual bool ApplyRows(std::span<std::byte* const> rows, std::size_t dimension,
                         const ValueView& gradients) const = 0;

 protected:
  explicit OptimizerRule(std::vector<OptimizerSlot> slots) : slots_(std::move(slots)) {}

 private:
  const std::vector<OptimizerSlot> slots_;
};

}  // namespace pstrain
