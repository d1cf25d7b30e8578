#include "runtime/shard/optimizers/kernel_rule.h"

#include <cmath>
#include <string>

namespace pstrain {

Result<double> ZeroOrAbove(double value, const char* name) {
  if (!std::isfinite(static_cast<float>(value)) || value < 0) {
    return InvalidArgumentError(std::string("optimizer: ") + name + " is " + std::to_string(value));
  }
  return value;
}

Result<double> AboveZero(double value, const char* name) {
  if (value == 0) return InvalidArgumentError(std::string("optimizer: ") + name + " is 0");
  return ZeroOrAbove(value, name);
}

}  // namespace pstrain
