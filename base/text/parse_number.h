#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace pstrain {

/// The number that the whole text is, as std::from_chars reads it: no white space, no '+', in the
/// range of T. Nothing for any other text, the empty one too. Pure; any thread.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace pstrain
