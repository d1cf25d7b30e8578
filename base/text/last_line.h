#pragma once

#include <string_view>

namespace pstrain {

/// The last line of a text, without the line ends behind it: of a program's last words the one that
/// says most, as a traceback names the error last. Refers to `text`. Pure; any thread.
inline std::string_view LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t line = text.rfind('\n');
  return line == std::string_view::npos ? text : text.substr(line + 1);
}

}  // namespace pstrain
