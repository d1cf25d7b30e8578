#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/status.h"
#include "runtime/requests/requests.h"
#include "runtime/requests/values.h"

namespace pstrain::data_plane_format {

/// Reads one part after the other of foreign bytes; the first failure sticks and everything after
/// it reads as zero or empty. One thread.
class WireReader {
 public:
  /// `what`: of an error. Both outlive it.
  WireReader(std::span<const std::byte> bytes, const char* what) : bytes_(bytes), what_(what) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kArrayAlignment != 0) Fail("misaligned");
  }

  std::uint16_t U16() { return Number<std::uint16_t>(); }
  std::uint32_t U32() { return Number<std::uint32_t>(); }
  std::uint64_t U64() { return Number<std::uint64_t>(); }
  void Zero32() {
    if (U32() != 0) Fail("a reserved field is not zero");
  }

  /// A 32-bit count of things of at least `min_bytes` each that follow somewhere.
  std::uint32_t Count(std::size_t min_bytes) {
    const std::uint32_t count = U32();
    if (count <= remaining() / min_bytes) return count;
    Fail("a count beyond the end");
    return 0;
  }

  /// Where it lies, and past its padding.
  template <typename T>
  std::span<const T> Array(std::uint64_t count) {
    if (count > remaining() / sizeof(T)) {
      Fail("an array beyond the end");
      return {};
    }
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(T);
    if (AlignedBytes(size) > remaining()) {
      Fail("an array beyond the end");
      return {};
    }
    const T* begin = reinterpret_cast<const T*>(bytes_.data() + position_);
    for (std::size_t i = size; i < AlignedBytes(size); ++i) {
      if (bytes_[position_ + i] == std::byte{0}) continue;
      Fail("padding that is not zero");
      return {};
    }
    position_ += AlignedBytes(size);
    return {begin, static_cast<std::size_t>(count)};
  }

  /// Fails for a number that stands for no dtype.
  DType ReadDType(std::uint32_t number) {
    if (number <= static_cast<std::uint32_t>(kLastDType)) return static_cast<DType>(number);
    Fail("an unknown dtype");
    return DType::kFloat32;
  }
  UpdateOp ReadOp() {
    const std::uint16_t number = U16();
    if (number <= static_cast<std::uint16_t>(kLastUpdateOp)) return static_cast<UpdateOp>(number);
    Fail("an unknown op");
    return UpdateOp::kGradient;
  }
  /// Never none.
  ValueView Elements(DType dtype, std::uint64_t count) {
    if (count == 0) Fail("a part with nothing in it");
    return WithElement(
        dtype, [&]<typename T>(std::type_identity<T>) -> ValueView { return Array<T>(count); });
  }

  bool failed() const { return failure_ != nullptr; }
  /// A text that lives for ever.
  void Fail(const char* failure) {
    if (failure_ != nullptr) return;
    failure_ = failure;
    position_ = bytes_.size();
  }
  /// OK when all was read and nothing is left.
  Status Finish() {
    if (failure_ == nullptr && remaining() != 0) Fail("bytes after the last section");
    if (failure_ == nullptr) return OkStatus();
    return InvalidArgumentError(std::string(what_) + " of " + std::to_string(bytes_.size()) +
                                " bytes: " + failure_);
  }

 private:
  std::size_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  T Number() {
    T value = 0;
    if (remaining() < sizeof(T)) {
      Fail("cut short");
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  std::span<const std::byte> bytes_;
  const char* what_;
  std::size_t position_ = 0;
  const char* failure_ = nullptr;
};

}  // namespace pstrain::data_plane_format
