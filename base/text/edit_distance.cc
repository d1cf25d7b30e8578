#include "base/text/edit_distance.h"

#include <algorithm>
#include <vector>

#include "base/text/ascii.h"

namespace pstrain {
namespace {

/// The time grows with the product of the lengths.
constexpr std::size_t kLongestName = 256;

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced =
          diagonal + (AsciiLower(a[i - 1]) == AsciiLower(b[j - 1]) ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string NearestName(std::string_view text, const std::vector<std::string>& names) {
  std::size_t best = std::max<std::size_t>(2, text.size() / 4) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    if (name.size() > kLongestName || text.size() > kLongestName) continue;
    const std::size_t distance = EditDistance(text, name);
    if (distance >= best || distance >= std::max(text.size(), name.size())) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace pstrain
