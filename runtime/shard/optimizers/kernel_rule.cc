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

Result<double> AtMostOne(double value, const char* name) {
  PSTRAIN_RETURN_IF_ERROR(ZeroOrAbove(value, name).status());
  if (value <= 1) return value;
  return InvalidArgumentError(std::string("optimizer: ") + name + " is " + std::to_string(value) +
                              ", above 1");
}

Result<double> BelowOne(double value, const char* name) {
  PSTRAIN_RETURN_IF_ERROR(AtMostOne(value, name).status());
  if (static_cast<float>(value) < 1) return value;
  return InvalidArgumentError(std::string("optimizer: ") + name + " is 1");
}

Result<double> Epsilon(double value) {
  PSTRAIN_RETURN_IF_ERROR(ZeroOrAbove(value, "epsilon").status());
  if (static_cast<float>(value) > 0) return value;
  return InvalidArgumentError("optimizer: epsilon is 0");
}

}  // namespace pstrain
