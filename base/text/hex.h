#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pstrain {

/// The word as 16 hexadecimal digits, the highest first. Pure; any thread.
inline std::string ToHex(std::uint64_t word) {
  constexpr int kDigits = 16;
  constexpr unsigned kBitsOfDigit = 4;
  std::string text(kDigits, '0');
  for (int i = kDigits - 1; i >= 0; --i) {
    text[static_cast<std::size_t>(i)] = "0123456789abcdef"[word & 0xfU];
    word >>= kBitsOfDigit;
  }
  return text;
}

}  // namespace pstrain
