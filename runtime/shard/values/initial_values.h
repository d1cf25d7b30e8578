#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/dtype.h"

namespace pstrain {

/// Initial values of a variable: element i is a function of (seed, name, i) alone, i counting
/// through the whole variable row-major, so they do not depend on partitions, shards or order of
/// access. A value; any thread.
class InitialValues {
 public:
  /// INVALID_ARGUMENT for an unknown kind, a scale that is negative or not finite, or integers that
  /// are to start as something else than zeros.
  static Result<InitialValues> Create(const VariableSpec& variable);

  /// Elements [first, first + out.size()).
  void Fill(std::uint64_t first, std::span<float> out) const;
  /// As many elements of `dtype` as `out` has room for; float64 has the digits that float32 lacks.
  /// REQUIRES: dtype is the variable's, `out` is aligned to its elements.
  void Fill(std::uint64_t first, DType dtype, std::span<std::byte> out) const;

 private:
  template <typename T>
  void FillWith(std::uint64_t first, std::span<T> out) const;
  double Uniform(std::uint64_t index) const;
  double TruncatedNormal(std::uint64_t index) const;

  Initializer::Kind kind_ = Initializer::ZEROS;
  double scale_ = 0;
  std::uint64_t stream_ = 0;
};

}  // namespace pstrain
