#pragma once

#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/crc32c.h"

namespace pstrain {

/// Protobuf would write a line for each text that is not UTF-8.
inline void SilenceProtobuf() { google::protobuf::SetLogHandler(nullptr); }

/// The input with the CRC-32C (little-endian, at byte 8) of what follows its header, so that what
/// lies behind the checksum is reached. Shorter inputs stay as they are.
inline std::string WithRightChecksum(const std::uint8_t* data, std::size_t size,
                                     std::size_t header_bytes) {
  constexpr std::size_t kChecksumAt = 8;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size < header_bytes) return bytes;
  const std::uint32_t crc = Crc32c(bytes.substr(header_bytes));
  std::memcpy(bytes.data() + kChecksumAt, &crc, sizeof(crc));
  return bytes;
}

}  // namespace pstrain
