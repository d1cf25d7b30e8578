#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/init/init_options.h"
#include "cli/init/table_profile.h"

namespace pstrain {

enum class FeatureKind : std::uint8_t { kStandardized, kLog, kVocabulary, kHashed, kIgnored };

/// What a model makes of a column, and why.
struct FeatureChoice {
  FeatureKind kind = FeatureKind::kIgnored;
  /// Unique among the features, of letters, digits and underscores.
  std::string name;
  std::string column;
  std::string reason;
  double mean = 0;
  double deviation = 1;
  /// Most frequent first.
  std::vector<std::string> values;
  std::int64_t buckets = 0;
  int embedding = 0;
};

/// One choice for each column but the label, in file order. INVALID_ARGUMENT: no column is left
/// that says anything, or more are than a job may have. Pure; any thread.
Result<std::vector<FeatureChoice>> ChooseFeatures(const TableProfile& table,
                                                  const InitOptions& options);

}  // namespace pstrain
