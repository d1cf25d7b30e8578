#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// What most sources keep in a RecordPosition: an offset and a number that messages name. Pure; any
/// thread.
struct NumberedOffset {
  /// Byte of the plain file.
  std::uint64_t offset = 0;
  /// The line or the record there, as the source counts.
  std::uint64_t number = 0;
  friend bool operator==(const NumberedOffset&, const NumberedOffset&) = default;
};

/// 16 bytes: both numbers, little-endian.
RecordPosition EncodePosition(NumberedOffset position);
/// DATA_LOSS for what EncodePosition did not write; `file` begins the message.
Result<NumberedOffset> DecodePosition(std::string_view file, const RecordPosition& position);

}  // namespace pstrain
