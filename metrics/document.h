#pragma once

#include <string>
#include <vector>

#include "metrics/table.h"

namespace pstrain {

/// docs/metrics.md: each family with type, unit, labels and text, by who serves it. Pure; any
/// thread.
std::string WriteMetricsDocument(const std::vector<MetricRow>& table);

}  // namespace pstrain
