#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cli/init/column_profile.h"
#include "cli/init/init_options.h"

namespace pstrain {

/// What the label of a job is.
struct LabelChoice {
  /// Text -> 0 or 1, in order; empty: the labels are numbers from 0 to 1 already.
  std::vector<std::pair<std::string, int>> map;
  /// Why, for a comment.
  std::string reason;
};

/// Two texts are mapped, numbers from 0 to 1 stay. INVALID_ARGUMENT: one value, or more than two
/// that --positive does not divide; says what there is. Pure; any thread.
Result<LabelChoice> ChooseLabel(const ColumnProfile& label, const InitOptions& options);

}  // namespace pstrain
