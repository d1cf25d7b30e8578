#pragma once

#include <cstddef>
#include <string_view>

namespace pstrain {

/// Levenshtein's distance without regard to the case of ASCII letters: for "did you mean". Time and
/// memory grow with the product of the lengths. Pure; any thread.
std::size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace pstrain
