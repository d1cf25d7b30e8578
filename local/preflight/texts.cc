#include "local/preflight/texts.h"

#include <algorithm>

#include "base/text/edit_distance.h"

namespace pstrain::preflight {

std::string Quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMost)) {
    if (c == '\t') {
      quoted += "\\t";
    } else {
      quoted += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return quoted + (text.size() > kMost ? "...\"" : "\"");
}

std::string Listed(const std::vector<std::string>& texts, std::size_t most) {
  std::string list;
  for (std::size_t i = 0; i < std::min(most, texts.size()); ++i) {
    list += (i == 0 ? "" : ", ") + texts[i];
  }
  return texts.size() > most ? list + " and " + std::to_string(texts.size() - most) + " more"
                             : list;
}

std::string DidYouMean(std::string_view text, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 256;  // the time grows with the product of the lengths
  const std::size_t allowed = std::max<std::size_t>(2, text.size() / 4);
  std::size_t best = allowed + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest || text.size() > kLongest) continue;
    const std::size_t distance = EditDistance(text, candidate);
    if (distance < best && distance < std::max(text.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? std::string() : "; did you mean " + Quoted(nearest) + "?";
}

}  // namespace pstrain::preflight
