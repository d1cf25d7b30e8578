#pragma once

#include <pstrain/dtype.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pstrain {

/// Of the dtypes of <pstrain/dtype.h>, those that a variable on a ps may have, and what is read
/// from it or written to it. All of this is constant: any thread.
inline constexpr DType kLastDType = DType::kInt64;

/// A C++ type that is the element of such a dtype.
template <typename T>
concept StoredElement = TensorElement<T> && kDTypeOf<T> <= kLastDType;

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
    case DType::kBool:
    case DType::kString:
      break;
  }
  return std::forward<Work>(work)(std::type_identity<float>());
}

/// Bytes of one element.
constexpr std::size_t SizeOf(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kInt64 ? 8 : 4;
}

/// As a message names it: "float32".
constexpr const char* NameOf(DType dtype) { return DTypeName(dtype); }

}  // namespace pstrain
