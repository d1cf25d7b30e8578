#pragma once

namespace pstrain {

/// The small letter of a capital one of ASCII; any other byte as it is, in every locale. Pure; any
/// thread.
constexpr char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace pstrain
