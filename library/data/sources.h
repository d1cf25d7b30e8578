#pragma once

#include <pstrain/dataset.h>
#include <pstrain/values.h>

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "library/data/data_node.h"

namespace pstrain::program {

/// Datasets that lie in memory. Any thread.

/// INVALID_ARGUMENT: no tensor, a scalar, or first axes that differ.
Result<DataNodePtr> OpenSlices(const Values& tensors);
DataNodePtr OpenOne(Values tensors);
/// INVALID_ARGUMENT: the step is 0.
Result<DataNodePtr> OpenRange(std::int64_t start, std::int64_t stop, std::int64_t step);
/// Makes elements one after the other, and again from the first one when it is asked for one that
/// it has made long ago. INVALID_ARGUMENT: there is no function.
Result<DataNodePtr> OpenGenerator(std::function<Dataset::NextElement()> begin);

}  // namespace pstrain::program
