#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pstrain {

/// Base64 with the alphabet of URLs and without padding, as JOSE writes it (RFC 7515, section 2).
/// Pure; any thread.

std::string ToBase64Url(std::string_view bytes);
/// Nothing for what ToBase64Url does not write: another alphabet, padding, bits left over.
std::optional<std::string> FromBase64Url(std::string_view text);

}  // namespace pstrain
