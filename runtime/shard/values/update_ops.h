#pragma once

#include <cstddef>

#include "runtime/requests/dtype.h"
#include "runtime/requests/requests.h"

namespace pstrain {

/// values[i] = op(values[i], operands[i]) for `count` elements of `dtype`: every op of a push but
/// the gradient, which is an optimizer's. Integers wrap around; what is not a number stays so.
/// False when a value is infinite or not a number afterwards. REQUIRES: op is not kGradient, both
/// arrays are aligned to their elements and do not overlap. Any thread; the arrays are the caller's
/// alone.
bool ApplyUpdate(UpdateOp op, DType dtype, std::byte* values, const std::byte* operands,
                 std::size_t count);

}  // namespace pstrain
