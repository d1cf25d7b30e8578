#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pstrain {

/// The length in bytes (1 to 4) of the well-formed UTF-8 sequence that `text` begins with; 0 when
/// it begins with none: overlong forms, surrogates, code points above U+10FFFF and the empty text
/// are not well-formed. Source: Unicode 15, table 3-7. All functions here are pure: any thread.
std::size_t Utf8SequenceLength(std::string_view text);

bool IsUtf8(std::string_view text);

/// The beginning of a text, at most `most` bytes, without half a character at its end where the
/// text is well-formed. A view of `text`.
std::string_view Utf8Prefix(std::string_view text, std::size_t most);

/// Appends a code point. REQUIRES: code_point <= 0x10FFFF and not a surrogate.
void AppendUtf8(char32_t code_point, std::string& text);

}  // namespace pstrain
