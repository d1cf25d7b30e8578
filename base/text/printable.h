#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pstrain {

/// A text of anybody's as one line that a person reads and JSON carries: control characters become
/// spaces and bytes that are no UTF-8 question marks. What does not fit into `most` bytes is cut
/// off. Pure; any thread.
std::string PrintableLine(std::string_view text, std::size_t most);

}  // namespace pstrain
