#pragma once

#include <filesystem>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

struct ConstantGradientResult {
  /// constant/dense.
  std::vector<float> dense;
  /// constant/table, [rows, dimension]; rows without a record are zeros.
  std::vector<float> table;
};

/// The final weights in closed form, from one pass over the whole input. INVALID_ARGUMENT when the
/// model is another one, the optimizer is not SGD with a power-of-two rate, or a sum reaches 2^24.
Result<ConstantGradientResult> ExpectedConstantGradientResult(const Training& training,
                                                              const std::filesystem::path& scratch);

}  // namespace pstrain
