#include "base/text/printable.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace pstrain {

std::string PrintableLine(std::string_view text, std::size_t most) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    const std::string_view next = text.substr(0, std::max<std::size_t>(length, 1));
    if (line.size() + next.size() > most) break;
    const bool control = static_cast<unsigned char>(next.front()) < ' ';
    if (length == 0) {
      line += '?';
    } else if (control) {
      line += ' ';
    } else {
      line += next;
    }
    text.remove_prefix(next.size());
  }
  return line;
}

}  // namespace pstrain
