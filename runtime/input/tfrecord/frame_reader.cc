#include "runtime/input/tfrecord/frame_reader.h"

#include <cerrno>
#include <fstream>
#include <utility>

#include "base/crc32c.h"
#include "runtime/input/plain_file.h"

namespace pstrain {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kHeaderBytes = kLengthBytes + kChecksumBytes;
/// As for a record of CSV: a length is believed only up to here before memory is taken for it.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{64} << 20;

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return number;
}

/// Whether `checksum` is the one of `bytes` as TFRecord stores it.
bool Matches(std::string_view bytes, std::string_view checksum) {
  return LittleEndian(checksum) == MaskCrc32c(Crc32c(bytes));
}

}  // namespace

Result<FrameReader> FrameReader::Open(const InputFile& file, NumberedOffset from) {
  auto in = std::make_unique<std::ifstream>(file.plain, std::ios::binary);
  if (!*in) return ErrnoError(errno, file.name);
  if (!in->seekg(static_cast<std::streamoff>(from.offset))) {
    return DataLossError(file.name + ": the file is shorter than its index says");
  }
  return FrameReader(file.name, std::move(in), from);
}

FrameReader::FrameReader(std::string place, std::unique_ptr<std::istream> in, NumberedOffset from)
    : place_(std::move(place)),
      in_(std::move(in)),
      next_(from),
      last_(from),
      passed_{from.offset, from.offset, 0} {}

PassedBytes FrameReader::TakePassed() {
  return std::exchange(passed_, {passed_.end, passed_.end, 0});
}

std::string FrameReader::Where() const {
  return place_ + ": record " + std::to_string(last_.number) + " at byte " +
         std::to_string(last_.offset);
}

Status FrameReader::Damaged(const std::string& what) const {
  return DataLossError(Where() + ": " + what);
}

Result<std::size_t> FrameReader::Fill(std::size_t size) {
  buffer_.resize(size);
  errno = 0;
  in_->read(buffer_.data(), static_cast<std::streamsize>(size));
  if (in_->bad()) return StreamError(Where());
  return static_cast<std::size_t>(in_->gcount());
}

Result<bool> FrameReader::Next(std::string_view& data) {
  last_ = next_;
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t header, Fill(kHeaderBytes));
  if (header == 0) return false;
  if (header < kHeaderBytes) {
    return Damaged("the file is cut short: it ends after " + std::to_string(header) +
                   " bytes of the record's header, which has 12");
  }
  const std::string_view length_bytes = std::string_view(buffer_).substr(0, kLengthBytes);
  if (!Matches(length_bytes, std::string_view(buffer_).substr(kLengthBytes))) {
    return Damaged(last_.offset == 0
                       ? "the checksum of its length does not match; this is no TFRecord file, "
                         "or it is compressed in another way than input.tfRecord.compression says"
                       : "the checksum of its length does not match; the file is damaged");
  }
  const std::uint64_t length = LittleEndian(length_bytes);
  passed_.crc32c = ExtendCrc32c(passed_.crc32c, buffer_.data(), kHeaderBytes);
  if (length > kMaxRecordBytes) {
    return InvalidArgumentError(Where() + ": the record is longer than 64 MiB");
  }
  const auto size = static_cast<std::size_t>(length);
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t found, Fill(size + kChecksumBytes));
  if (found < size + kChecksumBytes) {
    return Damaged("the file is cut short: it ends after " + std::to_string(found) + " of the " +
                   std::to_string(size + kChecksumBytes) + " bytes of the record's data and " +
                   "checksum");
  }
  data = std::string_view(buffer_).substr(0, size);
  if (!Matches(data, std::string_view(buffer_).substr(size))) {
    return Damaged("the checksum of its data does not match; the file is damaged");
  }
  next_ = {last_.offset + kHeaderBytes + size + kChecksumBytes, last_.number + 1};
  passed_.crc32c = ExtendCrc32c(passed_.crc32c, buffer_.data(), buffer_.size());
  passed_.end = next_.offset;
  return true;
}

}  // namespace pstrain
