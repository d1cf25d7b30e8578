#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pstrain {

/// Finds out whether floats are finite, in integers, which the compiler makes vectors of also where
/// it must keep the order of float operations. A float is infinite or not a number when all bits of
/// its exponent are 1 (IEEE 754, 3.4); one more then carries into the sign. A value. One thread at
/// a time.
class FiniteBits {
 public:
  void Add(const float* values, std::size_t count) {
    std::uint32_t carried = carried_;
    for (std::size_t i = 0; i < count; ++i) {
      carried |= (std::bit_cast<std::uint32_t>(values[i]) & kExponent) + kLowestOfExponent;
    }
    carried_ = carried;
  }
  /// As well of float64, whose exponent has 11 bits.
  void Add(const double* values, std::size_t count) {
    std::uint64_t carried = carried64_;
    for (std::size_t i = 0; i < count; ++i) {
      carried |= (std::bit_cast<std::uint64_t>(values[i]) & kExponent64) + kLowestOfExponent64;
    }
    carried64_ = carried;
  }
  /// All that were added are finite.
  bool AllFinite() const { return (carried_ & kSign) == 0 && (carried64_ & kSign64) == 0; }

 private:
  static constexpr std::uint32_t kSign = 0x80000000;
  static constexpr std::uint32_t kExponent = 0x7f800000;
  static constexpr std::uint32_t kLowestOfExponent = 0x00800000;

  static constexpr std::uint64_t kSign64 = 0x8000000000000000;
  static constexpr std::uint64_t kExponent64 = 0x7ff0000000000000;
  static constexpr std::uint64_t kLowestOfExponent64 = 0x0010000000000000;

  std::uint32_t carried_ = 0;
  std::uint64_t carried64_ = 0;
};

}  // namespace pstrain
