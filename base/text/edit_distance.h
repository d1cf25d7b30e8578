#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pstrain {

/// Levenshtein's distance without regard to the case of ASCII letters: for "did you mean". Time and
/// memory grow with the product of the lengths. Pure; any thread.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// The name that who wrote `text` may have meant, the first of several that are as near; empty when
/// none is near enough: at most 2 letters, or a fourth of the text, away, and with something in
/// common. Texts of more than 256 bytes are not compared. Pure; any thread.
std::string NearestName(std::string_view text, const std::vector<std::string>& names);

}  // namespace pstrain
