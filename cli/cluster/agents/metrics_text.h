#pragma once

#include <optional>
#include <string_view>

namespace pstrain::cluster {

/// The value of a family on a page of the Prometheus text format: the sum of its series that have
/// `label`, as `phase="compute"` (empty: all). nullopt when there is none, or one is no number.
/// Pure; any thread.
std::optional<double> MetricValue(std::string_view page, std::string_view name,
                                  std::string_view label = {});

}  // namespace pstrain::cluster
