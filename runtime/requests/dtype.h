#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pstrain {

/// The element type of a variable, and of what is read from it or written to it. The numbers are
/// those of VariableSpec.dtype (proto/contract/checkpoint.proto), of the data plane and of
/// checkpoint shards: they must never change. All of this is constant: any thread.
enum class DType : std::uint16_t { kFloat32 = 0, kFloat64 = 1, kInt32 = 2, kInt64 = 3 };
inline constexpr DType kLastDType = DType::kInt64;

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
}  // namespace dtype_internal

/// A C++ type that is the element of some DType.
template <typename T>
concept Element = requires { dtype_internal::DTypeOf<T>::value; };

template <Element T>
inline constexpr DType kDTypeOf = dtype_internal::DTypeOf<T>::value;

/// Calls `work` with std::type_identity of the C++ type. REQUIRES: dtype <= kLastDType.
template <typename Work>
constexpr decltype(auto) WithElement(DType dtype, Work&& work) {
  switch (dtype) {
    case DType::kFloat64:
      return std::forward<Work>(work)(std::type_identity<double>());
    case DType::kInt32:
      return std::forward<Work>(work)(std::type_identity<std::int32_t>());
    case DType::kInt64:
      return std::forward<Work>(work)(std::type_identity<std::int64_t>());
    case DType::kFloat32:
      break;
  }
  return std::forward<Work>(work)(std::type_identity<float>());
}

/// Bytes of one element.
constexpr std::size_t SizeOf(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kInt64 ? 8 : 4;
}

/// As a message names it: "float32".
constexpr const char* NameOf(DType dtype) {
  constexpr const char* kNames[] = {"float32", "float64", "int32", "int64"};
  return dtype <= kLastDType ? kNames[static_cast<std::size_t>(dtype)] : "an unknown dtype";
}

}  // namespace pstrain
