#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pstrain {

/// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78; RFC 3720 appendix B.4), with the CPU's
/// instruction when it has SSE4.2, tables otherwise; both give the same. Pure; any thread.

/// The checksum of a || b, given `crc`, the checksum of a (0 for nothing), and b.
std::uint32_t ExtendCrc32c(std::uint32_t crc, const void* data, std::size_t size);

inline std::uint32_t Crc32c(const void* data, std::size_t size) {
  return ExtendCrc32c(0, data, size);
}
inline std::uint32_t Crc32c(std::string_view bytes) { return Crc32c(bytes.data(), bytes.size()); }

/// The checksum as TFRecord files store it: rotated and offset, so that the checksum of bytes which
/// contain checksums stays useful. Source: TensorFlow, core/lib/hash/crc32c.h.
constexpr std::uint32_t MaskCrc32c(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}
constexpr std::uint32_t UnmaskCrc32c(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8U;
  return (rotated >> 17) | (rotated << 15);
}

/// The table version whatever the CPU has, to compare the two.
std::uint32_t ExtendCrc32cByTableForTest(std::uint32_t crc, const void* data, std::size_t size);

}  // namespace pstrain
