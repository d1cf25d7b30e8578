#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace pstrain {

/// The element type of a tensor or a variable. Mirrors tf.dtypes.DType; ours has those that a
/// parameter-server program needs. A tensor in a worker may have any of them, a variable on a ps
/// the first four. The numbers are those of VariableSpec.dtype (proto/contract/checkpoint.proto),
/// of the data plane and of checkpoint shards: they must never change. All of this header is
/// constant: any thread.
enum class DType : std::uint16_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kInt32 = 2,
  kInt64 = 3,
  kBool = 4,
  kString = 5,
};

namespace dtype_internal {
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::kFloat32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::kFloat64> {};
template <>
struct DTypeOf<std::int32_t> : std::integral_constant<DType, DType::kInt32> {};
template <>
struct DTypeOf<std::int64_t> : std::integral_constant<DType, DType::kInt64> {};
template <>
struct DTypeOf<bool> : std::integral_constant<DType, DType::kBool> {};
template <>
struct DTypeOf<std::string> : std::integral_constant<DType, DType::kString> {};
}  // namespace dtype_internal

/// A C++ type that is the element of some DType: float, double, std::int32_t, std::int64_t, bool,
/// std::string.
template <typename T>
concept TensorElement = requires { dtype_internal::DTypeOf<T>::value; };

/// The DType of T. Mirrors tf.as_dtype.
template <TensorElement T>
inline constexpr DType kDTypeOf = dtype_internal::DTypeOf<T>::value;

/// Bytes of one element; 0 for kString, whose elements have no fixed size. Mirrors
/// tf.dtypes.DType.size.
constexpr std::size_t DTypeSize(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    case DType::kBool:
      return 1;
    case DType::kString:
      break;
  }
  return 0;
}

/// "float32", as TensorFlow names it; "an unknown dtype" for a number that is none. Mirrors
/// tf.dtypes.DType.name.
constexpr const char* DTypeName(DType dtype) {
  constexpr const char* kNames[] = {"float32", "float64", "int32", "int64", "bool", "string"};
  return dtype <= DType::kString ? kNames[static_cast<std::size_t>(dtype)] : "an unknown dtype";
}

}  // namespace pstrain
