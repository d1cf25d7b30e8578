#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"

namespace pstrain {

/// Initial values of a variable: element i is a function of (seed, name, i) alone, i counting
/// through the whole variable row-major, so they do not depend on partitions, shards or order of
/// access. A value; any thread.
class InitialValues {
 public:
  /// INVALID_ARGUMENT for an unknown kind or a scale that is negative or not finite.
  static Result<InitialValues> Create(const VariableSpec& variable);

  /// Elements [first, first + out.size()).
  void Fill(std::uint64_t first, std::span<float> out) const;

 private:
  float Uniform(std::uint64_t index) const;
  float TruncatedNormal(std::uint64_t index) const;

  Initializer::Kind kind_ = Initializer::ZEROS;
  double scale_ = 0;
  std::uint64_t stream_ = 0;
};

}  // namespace pstrain
