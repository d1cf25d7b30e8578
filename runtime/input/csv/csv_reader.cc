#include "runtime/input/csv/csv_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace pstrain {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

Result<CsvReader> CsvReader::Open(std::string name, const std::filesystem::path& text,
                                          const CsvFormat& format, TextPosition from) {
  CsvReader reader;
  reader.name_ = std::move(name);
  reader.format_ = format;
  reader.file_.open(text, std::ios::binary);
  if (!reader.file_) return ErrnoError(errno, reader.name_);
  if (from.offset > 0 && !reader.file_.seekg(static_cast<std::streamoff>(from.offset))) {
    return DataLossError(reader.name_ + ": the file is shorter than its index says");
  }
  reader.base_ = from.offset;
  reader.cursor_.line = from.line;
  PSTRAIN_RETURN_IF_ERROR(reader.Refill());
  if (from.offset == 0 && std::string_view(reader.buffer_).starts_with(kByteOrderMark)) {
    reader.cursor_.offset = kByteOrderMark.size();
  }
  return reader;
}

Status CsvReader::Refill() {
  buffer_.erase(0, cursor_.offset);
  base_ += cursor_.offset;
  cursor_.offset = 0;
  if (buffer_.size() > kMaxRecordBytes) {
    return InvalidArgumentError(name_ + ":" + std::to_string(cursor_.line) +
                                ": the record is longer than 64 MiB (a quote that is not closed?)");
  }
  // Doubling keeps the work linear for long records.
  const std::size_t old_size = buffer_.size();
  const std::size_t wanted = std::max(kChunkBytes, old_size);
  buffer_.resize(old_size + wanted);
  file_.read(buffer_.data() + old_size, static_cast<std::streamsize>(wanted));
  if (file_.bad()) return DataLossError(name_ + ": reading failed");
  buffer_.resize(old_size + static_cast<std::size_t>(file_.gcount()));
  at_end_ = file_.eof();
  return OkStatus();
}

Result<bool> CsvReader::Next(CsvRecord& record) {
  while (true) {
    switch (NextCsvRecord(format_, buffer_, at_end_, cursor_, record)) {
      case CsvStep::kRecord:
        return true;
      case CsvStep::kEnd:
        return false;
      case CsvStep::kOpenQuote:
        return InvalidArgumentError(name_ + ":" + std::to_string(record.line) +
                                    ": a quoted field is not closed");
      case CsvStep::kNeedMore:
        PSTRAIN_RETURN_IF_ERROR(Refill());
        break;
    }
  }
}

}  // namespace pstrain
