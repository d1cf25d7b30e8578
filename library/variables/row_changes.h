#pragma once

#include <pstrain/status.h>
#include <pstrain/tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library/variables/variable_table.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/requests/values.h"
#include "runtime/worker/step_data.h"

namespace pstrain::program {

/// Rows as a function names them: by ids in any order, also several times. A value.
struct NamedRows {
  /// Each once, ascending.
  std::vector<std::uint64_t> rows;
  /// Of each id, in their order: which of `rows` it is.
  std::vector<std::size_t> places;

  /// OUT_OF_RANGE names an id that is no row of the variable. INVALID_ARGUMENT: ids of another
  /// dtype than int32 or int64, or a variable without rows.
  static Result<NamedRows> Of(const std::string& name, const ProgramVariable& variable,
                              const Tensor& ids);
};

/// What one step has said of rows, in the order in which it was said. One thread.
class RowChanges {
 public:
  /// `values` has a row for each id. Of ids that are the same, gradients and what is added are
  /// summed in their order, and the last one is assigned. REQUIRES: dtype and size fit.
  void Add(const ProgramVariable& variable, UpdateOp op, NamedRows named, const Tensor& values);
  /// Something was said of rows of this variable.
  bool Of(VariableId variable) const;

  /// Makes of the values of these rows what the ps will have made of them. False: of one of them a
  /// gradient came last, of which only the ps knows what it makes. REQUIRES: `rows` ascend, and
  /// `values` has one after the other.
  bool ApplyTo(const ProgramVariable& variable, std::span<const std::uint64_t> rows,
               ValueArray* values) const;
  /// The same for all rows of a variable.
  bool ApplyToAll(const ProgramVariable& variable, ValueArray* values) const;

  /// Adds what was said to the end of these.
  void MoveTo(StepAccess* access, StepUpdates* updates) &&;

 private:
  struct Change {
    VariableId variable = 0;
    UpdateOp op = UpdateOp::kGradient;
    std::vector<std::uint64_t> rows;
    ValueArray values;
  };
  template <typename PlaceOf>
  bool Apply(const ProgramVariable& variable, std::size_t rows, PlaceOf place_of,
             ValueArray* values) const;

  std::vector<Change> changes_;
};

}  // namespace pstrain::program
