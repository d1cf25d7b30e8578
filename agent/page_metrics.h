#pragma once

#include <vector>

#include "base/metrics/collector.h"
#include "proto/contract/stats_page.h"

namespace pstrain {

/// Appends the slots of the page as families, with `ours` behind each slot's own labels; a label of
/// ours wins. Histograms are put together from their slots. Slots that do not fit the first of
/// their name, and everything of a page that cannot be read, are left out. Any thread.
void AppendPageMetrics(const StatsPage& page, const std::vector<MetricLabel>& ours,
                       std::vector<MetricFamily>& families);

}  // namespace pstrain
