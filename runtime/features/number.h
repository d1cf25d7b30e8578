#pragma once

#include <string_view>

#include "base/status.h"

namespace pstrain {

/// A finite decimal number that float32 can hold. INVALID_ARGUMENT: `"abc" is not a number`. Pure;
/// any thread.
Result<double> ParseNumber(std::string_view text);

}  // namespace pstrain
