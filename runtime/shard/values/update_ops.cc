#include "runtime/shard/values/update_ops.h"

#include <cmath>
#include <type_traits>

#include "base/finite_bits.h"

namespace pstrain {
namespace {

template <typename T>
T Sum(T value, T operand) {
  if constexpr (std::is_integral_v<T>) {
    // Signed overflow is undefined, unsigned wraps around.
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(value) + static_cast<Unsigned>(operand));
  } else {
    return value + operand;
  }
}

template <typename T>
bool IsNoNumber(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// Takes the operand unless the value is better, so that an operand that is not a number is not
/// passed over in silence.
template <typename T>
T Least(T value, T operand) {
  return IsNoNumber(value) || value <= operand ? value : operand;
}
template <typename T>
T Most(T value, T operand) {
  return IsNoNumber(value) || value >= operand ? value : operand;
}

template <typename T>
void Carry(UpdateOp op, T* __restrict values, const T* __restrict operands, std::size_t count) {
  switch (op) {
    case UpdateOp::kAssign:
      for (std::size_t i = 0; i < count; ++i) values[i] = operands[i];
      return;
    case UpdateOp::kAdd:
      for (std::size_t i = 0; i < count; ++i) values[i] = Sum(values[i], operands[i]);
      return;
    case UpdateOp::kMin:
      for (std::size_t i = 0; i < count; ++i) values[i] = Least(values[i], operands[i]);
      return;
    case UpdateOp::kMax:
      for (std::size_t i = 0; i < count; ++i) values[i] = Most(values[i], operands[i]);
      return;
    case UpdateOp::kGradient:
      return;
  }
}

}  // namespace

bool ApplyUpdate(UpdateOp op, DType dtype, std::byte* values, const std::byte* operands,
                 std::size_t count) {
  return WithElement(dtype, [&]<typename T>(std::type_identity<T>) {
    T* const elements = reinterpret_cast<T*>(values);
    Carry(op, elements, reinterpret_cast<const T*>(operands), count);
    if constexpr (std::is_integral_v<T>) {
      return true;
    } else {
      FiniteBits bits;
      bits.Add(elements, count);
      return bits.AllFinite();
    }
  });
}

}  // namespace pstrain
