#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pstrain {

/// Where a section of a message starts, relative to the start of the body.
inline constexpr std::size_t kBytesAlignment = 64;

/// Contiguous memory that nobody changes any more, shared by reference count: copies are cheap and
/// refer to the same memory. A value; any thread may own one.
class Bytes {
 public:
  Bytes() = default;
  /// `data` stays valid as long as `owner` lives.
  Bytes(std::shared_ptr<const void> owner, std::span<const std::byte> data)
      : owner_(std::move(owner)), data_(data) {}

  /// Takes the text over without a copy.
  static Bytes FromString(std::string text);
  /// Takes the vector over without a copy.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  static Bytes FromVector(std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const auto data = std::as_bytes(std::span(*owner));
    return {std::move(owner), data};
  }
  /// A copy of all parts, one after the other, in memory aligned to kBytesAlignment.
  static Bytes Join(std::span<const Bytes> parts);

  std::span<const std::byte> span() const { return data_; }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(data_.data()), data_.size()};
  }
  const std::byte* data() const { return data_.data(); }
  std::size_t size() const { return data_.size(); }
  bool empty() const { return data_.empty(); }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> data_;
};

/// Memory being filled; becomes Bytes when it is. Aligned to kBytesAlignment, not initialised.
class BytesBuilder {
 public:
  explicit BytesBuilder(std::size_t size);
  std::span<std::byte> span() { return {memory_.get(), size_}; }
  /// The builder is empty afterwards.
  Bytes Finish() &&;

 private:
  std::shared_ptr<std::byte> memory_;
  std::size_t size_;
};

/// Sum of the parts' sizes.
std::size_t TotalSize(std::span<const Bytes> parts);

}  // namespace pstrain
