#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace pstrain {

/// Bytes of one message, aligned to 16, of a size fixed at construction; not initialised. Movable;
/// the owner may hand it to another thread, one thread at a time.
class WireBuffer {
 public:
  WireBuffer() = default;
  explicit WireBuffer(std::size_t size) : data_(new std::byte[size]), size_(size) {}

  /// An aligned copy.
  static WireBuffer Copy(std::span<const std::byte> bytes) {
    WireBuffer buffer(bytes.size());
    if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

}  // namespace pstrain
