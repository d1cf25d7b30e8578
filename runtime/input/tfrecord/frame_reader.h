#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/input/record_position.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// Reads the records of a TFRecord file in order, from any position in front of a record. Movable;
/// one thread at a time.
///
/// A record is its length (8 bytes, little-endian), the masked CRC-32C of these bytes, the data and
/// the masked CRC-32C of the data (TensorFlow, core/lib/io/record_writer.cc). Both checksums are
/// checked. What does not match is an error and never a record that could be left out: such a file
/// is not what its writer wrote, and behind a wrong length nobody can tell where the next record
/// begins. For the same reason a file that ends within a record is an error wherever it ends.
/// TensorFlow takes an end within the first 12 bytes of a record for the end of the file, which
/// hides that a file was cut short.
class FrameReader {
 public:
  /// Record 1 at byte 0.
  static constexpr NumberedOffset kFirst{0, 1};

  static Result<FrameReader> Open(const InputFile& file, NumberedOffset from = kFirst);
  /// `in` stands at `from`; `place` is what messages begin with.
  FrameReader(std::string place, std::unique_ptr<std::istream> in, NumberedOffset from = kFirst);

  /// False at the end of the file. `data` is valid until the next call. DATA_LOSS: the file is
  /// damaged; INVALID_ARGUMENT: the record is longer than 64 MiB.
  Result<bool> Next(std::string_view& data);

  /// In front of the next record.
  NumberedOffset position() const { return next_; }
  /// The bytes of the records since the last call, or since the start.
  PassedBytes TakePassed();
  /// The record that Next read or refused last: `FILE: record 3 at byte 141`. The byte is one of
  /// the unpacked file.
  std::string Where() const;

 private:
  /// Reads up to `size` bytes into the buffer; how many there were.
  Result<std::size_t> Fill(std::size_t size);
  Status Damaged(const std::string& what) const;

  std::string place_;
  std::unique_ptr<std::istream> in_;
  NumberedOffset next_;
  NumberedOffset last_;
  PassedBytes passed_;
  std::string buffer_;
};

}  // namespace pstrain
