#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pstrain::preflight {

/// How findings name things. Pure; any thread.

/// In double quotes, on one line, cut after 60 bytes.
std::string Quoted(std::string_view text);

/// `a, b, c`, of a long list the beginning and how many more there are.
std::string Listed(const std::vector<std::string>& texts, std::size_t most = 30);

/// `; did you mean "age"?` with the candidate that is nearest to `text`; empty when none is near.
std::string DidYouMean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace pstrain::preflight
