#include "runtime/input/csv/csv_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/crc32c.h"
#include "runtime/input/plain_file.h"

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
  reader.passed_ = {from.offset, from.offset, 0};
  reader.cursor_.line = from.line;
  PSTRAIN_RETURN_IF_ERROR(reader.Refill());
  if (from.offset == 0 && std::string_view(reader.buffer_).starts_with(kByteOrderMark)) {
    reader.cursor_.offset = kByteOrderMark.size();
    reader.record_end_ = kByteOrderMark.size();
    reader.TakePassed();
  }
  return reader;
}

void CsvReader::Pass() {
  const auto from = static_cast<std::size_t>(passed_.end - base_);
  passed_.crc32c = ExtendCrc32c(passed_.crc32c, buffer_.data() + from, record_end_ - from);
  passed_.end = base_ + record_end_;
}

PassedBytes CsvReader::TakePassed() {
  Pass();
  return std::exchange(passed_, {passed_.end, passed_.end, 0});
}

Status CsvReader::Refill() {
  Pass();
  // Empty lines before the cursor belong to the record behind them, if there is one.
  buffer_.erase(0, record_end_);
  base_ += record_end_;
  cursor_.offset -= record_end_;
  record_end_ = 0;
  if (buffer_.size() - cursor_.offset > kMaxRecordBytes) {
    return InvalidArgumentError(name_ + ":" + std::to_string(cursor_.line) +
                                ": the record is longer than 64 MiB (a quote that is not closed?)");
  }
  // Doubling keeps the work linear for long records; one byte more than the limit shows that a
  // record is longer.
  const std::size_t old_size = buffer_.size();
  const std::size_t wanted =
      std::min(std::max(kChunkBytes, old_size), cursor_.offset + kMaxRecordBytes + 1 - old_size);
  buffer_.resize(old_size + wanted);
  errno = 0;
  file_.read(buffer_.data() + old_size, static_cast<std::streamsize>(wanted));
  if (file_.bad()) return StreamError(name_);
  buffer_.resize(old_size + static_cast<std::size_t>(file_.gcount()));
  at_end_ = file_.eof();
  return OkStatus();
}

Result<bool> CsvReader::Next(CsvRecord& record) {
  while (true) {
    switch (NextCsvRecord(format_, buffer_, at_end_, cursor_, record)) {
      case CsvStep::kRecord:
        record_end_ = cursor_.offset;
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
