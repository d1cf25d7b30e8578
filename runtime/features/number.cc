#include "runtime/features/number.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace pstrain {

Result<double> ParseNumber(std::string_view text) {
  const std::string_view digits =
      text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || end != digits.data() + digits.size() ||
      error == std::errc::invalid_argument || std::isnan(value) || std::isinf(value)) {
    return InvalidArgumentError("\"" + std::string(text) + "\" is not a number");
  }
  if (error != std::errc() || std::abs(value) > double{std::numeric_limits<float>::max()}) {
    return InvalidArgumentError("\"" + std::string(text) + "\" is out of range");
  }
  return value;
}

}  // namespace pstrain
