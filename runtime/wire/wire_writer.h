#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "runtime/requests/values.h"
#include "runtime/wire/wire_buffer.h"

namespace pstrain::data_plane_format {

/// Where the encoder's bytes go: first to one that only counts them, then to one that has room for
/// exactly so many, so that a message is allocated once and its arrays are copied once. One thread.
class WireWriter {
 public:
  /// Counts.
  WireWriter() = default;
  /// Writes. REQUIRES: what comes is of that size.
  explicit WireWriter(std::size_t size) : buffer_(size), writes_(true) {}

  void U16(std::uint16_t value) { Raw(&value, sizeof(value)); }
  void U32(std::uint32_t value) { Raw(&value, sizeof(value)); }
  void U64(std::uint64_t value) { Raw(&value, sizeof(value)); }
  void Size32(std::size_t value) { U32(static_cast<std::uint32_t>(value)); }
  /// Padded to kArrayAlignment, so that the reader uses the array where it lies, without a copy.
  template <typename T>
  void Array(std::span<const T> values) {
    Raw(values.data(), values.size_bytes());
    Pad();
  }
  void Raw(const void* data, std::size_t size) {
    if (writes_ && size > 0) std::memcpy(buffer_.data() + position_, data, size);
    position_ += size;
  }
  /// Each as 4 bytes. REQUIRES: they fit.
  void Narrow32(std::span<const std::uint64_t> values) {
    if (writes_) {
      std::byte* to = buffer_.data() + position_;
      for (const std::uint64_t value : values) {
        const auto narrow = static_cast<std::uint32_t>(value);
        std::memcpy(to, &narrow, sizeof(narrow));
        to += sizeof(narrow);
      }
    }
    position_ += values.size() * sizeof(std::uint32_t);
  }
  /// The buffer begins with whatever the memory had, so the padding is written too.
  void Pad() {
    constexpr std::byte kZeros[kArrayAlignment] = {};
    Raw(kZeros, AlignedBytes(position_) - position_);
  }
  std::size_t size() const { return position_; }
  WireBuffer Take() { return std::move(buffer_); }

 private:
  WireBuffer buffer_;
  bool writes_ = false;
  std::size_t position_ = 0;
};

/// The bytes of `write`, which is called twice.
template <typename Write>
WireBuffer Written(Write write) {
  WireWriter counts;
  write(counts);
  WireWriter out(counts.size());
  write(out);
  return out.Take();
}

}  // namespace pstrain::data_plane_format
