#include "local/preflight/texts.h"

#include <algorithm>

#include "base/text/edit_distance.h"
#include "base/text/utf8.h"

namespace pstrain::preflight {

std::string Quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string quoted = "\"";
  for (const char c : Utf8Prefix(text, kMost)) {
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
  const std::string nearest = NearestName(text, candidates);
  return nearest.empty() ? std::string() : "; did you mean " + Quoted(nearest) + "?";
}

}  // namespace pstrain::preflight
