#include "runtime/shard/optimizers/kernel_rule.h"

#include <cmath>
#include <string>

namespace pstrain {

Result<float> ZeroOrAbove(double value, const char* name) {
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow) || value < 0) {
    return InvalidArgumentError(std::string("optimizer: ") + name + " is " + std::to_string(value));
  }
  return narrow;
}

Result<float> AboveZero(double value, const char* name) {
  if (value == 0) return InvalidArgumentError(std::string("optimizer: ") + name + " is 0");
  return ZeroOrAbove(value, name);
}

}  // namespace pstrain
