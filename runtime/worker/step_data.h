#pragma once

#include <cstdint>
#include <vector>

#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/requests/values.h"

namespace pstrain {

/// What a WorkerStep says, is given and gives back, without knowing of shards. Plain data: one
/// thread at a time.

/// Rows of one table, or of axis 0 of one dense variable, that a step reads: of the latter, only
/// the shards that have them are asked.
struct RowAccess {
  VariableId variable = 0;
  /// Ascending, each once.
  std::vector<std::uint64_t> rows;
};

/// What a step reads: a pull brings that and nothing else. A step may change dense variables that
/// it does not read; rows it must read. A value.
struct StepAccess {
  /// Ids of dense variables, ascending, each once; each is read whole.
  std::vector<VariableId> dense;
  /// Several may be of one variable.
  std::vector<RowAccess> requests;
};

/// The values of what a step reads, each of its variable's dtype and row-major. A value.
struct StepValues {
  /// Parallel to StepAccess::dense.
  std::vector<ValueArray> dense;
  /// Parallel to StepAccess::requests: rows x dimension.
  std::vector<ValueArray> rows;
};

/// What a step changes, each part in the dtype of its variable. Several of one variable are carried
/// out in their order. A value.
struct StepUpdates {
  struct Dense {
    VariableId variable = 0;
    /// Of the whole variable.
    ValueArray values;
    UpdateOp op = UpdateOp::kGradient;
  };
  struct Rows {
    /// Position in StepAccess::requests, whose rows these are.
    std::size_t request = 0;
    ValueArray values;
    UpdateOp op = UpdateOp::kGradient;
  };
  std::vector<Dense> dense;
  std::vector<Rows> rows;
};

}  // namespace pstrain
