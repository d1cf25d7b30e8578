#include "base/text/utf8.h"

namespace pstrain {
namespace {

bool InRange(char c, unsigned low, unsigned high) {
  const unsigned byte = static_cast<unsigned char>(c);
  return byte >= low && byte <= high;
}

}  // namespace

std::size_t Utf8SequenceLength(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;   // shorter forms exist
    if (lead == 0xed) high = 0x9f;  // surrogates
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;   // shorter forms exist
    if (lead == 0xf4) high = 0x8f;  // above U+10FFFF
  } else {
    return 0;
  }
  if (text.size() < length || !InRange(text[1], low, high)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!InRange(text[i], 0x80, 0xbf)) return 0;
  }
  return length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view Utf8Prefix(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  while (most > 0 && continues(text[most])) --most;
  return text.substr(0, most);
}

void AppendUtf8(char32_t code_point, std::string& text) {
  const auto tail = [code_point](unsigned shift) {
    return static_cast<char>(0x80U | ((code_point >> shift) & 0x3fU));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xc0U | (code_point >> 6U));
    text += tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xe0U | (code_point >> 12U));
    text += tail(6);
    text += tail(0);
  } else {
    text += static_cast<char>(0xf0U | (code_point >> 18U));
    text += tail(12);
    text += tail(6);
    text += tail(0);
  }
}

}  // namespace pstrain
