#include "agent/last_words.h"

#include "base/text/printable.h"

namespace pstrain {
namespace {

constexpr int kMostLines = 10;
/// A line of a log that carries a whole value must not hide those before it.
constexpr std::size_t kLongestLine = 400;

}  // namespace

std::string LastWords(std::string_view output) {
  std::string words;
  for (int lines = 0; lines < kMostLines && !output.empty();) {
    const std::size_t end = output.find_last_of("\n\r");
    const std::size_t begin = end == std::string_view::npos ? 0 : end + 1;
    std::string line = PrintableLine(output.substr(begin), kLongestLine);
    output = end == std::string_view::npos ? std::string_view() : output.substr(0, end);
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.empty()) continue;
    if (line.size() + 1 + words.size() > kLongestLastWords) break;
    words.insert(0, words.empty() ? line : line + "\n");
    ++lines;
  }
  return words;
}

}  // namespace pstrain
