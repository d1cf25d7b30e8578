#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pstrain {

/// Finds out whether floats are finite, in integers, which may be looked at side by side where the
/// order of float operations must be kept. A float is infinite or not a number when all bits of its
/// exponent are 1 (IEEE 754, 3.4); one more then carries into the sign. A value.
class FiniteBits {
 public:
  void Add(const float* values, std::size_t count) {
    Lanes lanes = lanes_;
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Lanes bits;
      std::memcpy(&bits, values + i, sizeof(bits));
      lanes |= (bits & kExponent) + kLowestOfExponent;
    }
    lanes_ = lanes;
    for (; i < count; ++i) {
      rest_ |= (std::bit_cast<std::uint32_t>(values[i]) & kExponent) + kLowestOfExponent;
    }
  }
  /// All that were added are finite.
  bool AllFinite() const {
    std::uint32_t carried = rest_;
    for (std::size_t lane = 0; lane < kLanes; ++lane) carried |= lanes_[lane];
    return (carried & kSign) == 0;
  }

 private:
  static constexpr std::uint32_t kSign = 0x80000000;
  static constexpr std::uint32_t kExponent = 0x7f800000;
  static constexpr std::uint32_t kLowestOfExponent = 0x00800000;
  static constexpr std::size_t kLanes = 4;
  /// Kept apart until the end: to join them for each row of a table costs more than to look at it.
  using Lanes [[gnu::vector_size(kLanes * sizeof(std::uint32_t))]] = std::uint32_t;

  Lanes lanes_ = {};
  std::uint32_t rest_ = 0;
};

}  // namespace pstrain
