#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pstrain {

/// The most bytes that LastWords gives: beside them a termination message has room for values.
inline constexpr std::size_t kLongestLastWords = 1000;

/// The last lines of what a program has written, at most ten and kLongestLastWords bytes, for a
/// person: lines without content are left out, each is printable (base/text/printable.h), and of a
/// line that is too long the beginning counts. A carriage return ends a line, as of a progress bar.
/// Pure; any thread.
std::string LastWords(std::string_view output);

}  // namespace pstrain
