#include "cli/cluster/agents/metrics_text.h"

#include <cmath>
#include <cstddef>

#include "base/text/parse_number.h"

namespace pstrain::cluster {
namespace {

/// `NAME{LABELS} VALUE` of that name, with the label among the labels.
bool IsSeries(std::string_view line, std::string_view name, std::string_view label) {
  if (!line.starts_with(name)) return false;
  const std::string_view rest = line.substr(name.size());
  if (!rest.starts_with('{') && !rest.starts_with(' ')) return false;
  if (label.empty()) return true;
  return rest.starts_with('{') && rest.substr(0, rest.rfind('}')).find(label) != std::string::npos;
}

}  // namespace

std::optional<double> MetricValue(std::string_view page, std::string_view name,
                                  std::string_view label) {
  std::optional<double> sum;
  while (!page.empty()) {
    const std::size_t end = page.find('\n');
    const std::string_view line = page.substr(0, end);
    page = end == std::string_view::npos ? std::string_view() : page.substr(end + 1);
    if (!IsSeries(line, name, label)) continue;
    const auto value = ParseNumber<double>(line.substr(line.rfind(' ') + 1));
    if (!value || !std::isfinite(*value)) return std::nullopt;
    sum = sum.value_or(0) + *value;
  }
  return sum;
}

}  // namespace pstrain::cluster
