#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/requests/dtype.h"

namespace pstrain {

/// Where several arrays lie one behind the other, in a message or in the answer to a pull, each
/// begins at a multiple of this: elements of any dtype are aligned wherever the first one is.
inline constexpr std::size_t kArrayAlignment = 8;
constexpr std::size_t AlignedBytes(std::size_t bytes) {
  return (bytes + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

/// Elements of one dtype that lie together, to be read. A view: whoever makes it keeps the memory
/// alive. Any thread, as long as nobody changes the elements.
class ValueView {
 public:
  ValueView() = default;
  /// REQUIRES: `bytes` are whole elements of `dtype`, aligned to their size.
  ValueView(DType dtype, std::span<const std::byte> bytes) : dtype_(dtype), bytes_(bytes) {}
  /// Of a vector, array or span of elements.
  template <std::ranges::contiguous_range Range>
    requires StoredElement<std::ranges::range_value_t<Range>>
  ValueView(const Range& values)
      : dtype_(kDTypeOf<std::ranges::range_value_t<Range>>),
        bytes_(std::as_bytes(std::span(std::ranges::data(values), std::ranges::size(values)))) {}

  DType dtype() const { return dtype_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Elements.
  std::size_t size() const { return bytes_.size() / SizeOf(dtype_); }
  bool empty() const { return bytes_.empty(); }
  /// REQUIRES: T is the element of dtype().
  template <StoredElement T>
  std::span<const T> of() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  /// Elements [first, first + count).
  ValueView Part(std::size_t first, std::size_t count) const {
    const std::size_t size = SizeOf(dtype_);
    return {dtype_, bytes_.subspan(first * size, count * size)};
  }

 private:
  DType dtype_ = DType::kFloat32;
  std::span<const std::byte> bytes_;
};

/// An array of elements of one dtype, which it owns. A value.
class ValueArray {
 public:
  /// Of float32, without elements.
  ValueArray() = default;
  template <StoredElement T>
  ValueArray(std::vector<T> values) : elements_(std::move(values)) {}
  /// Zeros.
  ValueArray(DType dtype, std::size_t count) {
    WithElement(dtype, [&]<typename T>(std::type_identity<T>) {
      elements_.template emplace<std::vector<T>>(count);
    });
  }

  DType dtype() const { return static_cast<DType>(elements_.index()); }
  std::size_t size() const {
    return std::visit([](const auto& values) { return values.size(); }, elements_);
  }
  bool empty() const { return size() == 0; }
  /// REQUIRES: T is the element of dtype().
  template <StoredElement T>
  std::vector<T>& of() {
    return *std::get_if<std::vector<T>>(&elements_);
  }
  template <StoredElement T>
  const std::vector<T>& of() const {
    return *std::get_if<std::vector<T>>(&elements_);
  }
  std::span<std::byte> bytes() {
    return std::visit([](auto& values) { return std::as_writable_bytes(std::span(values)); },
                      elements_);
  }
  std::span<const std::byte> bytes() const { return view().bytes(); }
  ValueView view() const {
    return std::visit([](const auto& values) { return ValueView(values); }, elements_);
  }
  operator ValueView() const { return view(); }
  /// Adds elements [first, first + count) of `from`. REQUIRES: it has them, and the same dtype.
  void Append(const ValueArray& from, std::size_t first, std::size_t count) {
    WithElement(dtype(), [&]<typename T>(std::type_identity<T>) {
      const auto begin = from.of<T>().begin() + static_cast<std::ptrdiff_t>(first);
      of<T>().insert(of<T>().end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    });
  }
  friend bool operator==(const ValueArray&, const ValueArray&) = default;

 private:
  // In the order of DType.
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
               std::vector<std::int64_t>>
      elements_;
};

}  // namespace pstrain
