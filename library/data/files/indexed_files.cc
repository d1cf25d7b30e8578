#include "library/data/files/indexed_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/mutex.h"

namespace pstrain::program {
namespace {

/// Every so many records a place is kept, 16 bytes each: what is passed over to come to a record.
constexpr std::uint64_t kRecordsPerPlace = 16;
/// Open files that wait for the next call.
constexpr std::size_t kMostIdle = 4;

/// What tells that a file is another one.
struct Stamp {
  std::uintmax_t size = 0;
  std::filesystem::file_time_type changed;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

Result<Stamp> StampOf(const InputFile& file) {
  std::error_code error;
  Stamp stamp;
  stamp.size = std::filesystem::file_size(file.plain, error);
  if (!error) stamp.changed = std::filesystem::last_write_time(file.plain, error);
  if (error) return ErrnoError(error.value(), file.name);
  return stamp;
}

struct Indexed {
  InputFile file;
  Stamp stamp = {};
  /// Number of its first record among those of all files.
  std::uint64_t first = 0;
  std::uint64_t records = 0;
  /// Place k is in front of record k * kRecordsPerPlace.
  std::vector<NumberedOffset> places = {};
};

Result<Indexed> Index(const RecordFormat& format, const InputFile& file) {
  Indexed indexed{.file = file};
  PSTRAIN_ASSIGN_OR_RETURN(indexed.stamp, StampOf(file));
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RecordCursor> cursor,
                           format.Open(file, std::nullopt));
  while (true) {
    const NumberedOffset place = cursor->position();
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, cursor->Skip());
    if (!found) return indexed;
    if (indexed.records % kRecordsPerPlace == 0) indexed.places.push_back(place);
    ++indexed.records;
  }
}

class IndexedFiles final : public DataNode {
 public:
  IndexedFiles(std::unique_ptr<const RecordFormat> format, std::vector<Indexed> files,
               ScratchDirectory scratch)
      : scratch_(std::move(scratch)), format_(std::move(format)), files_(std::move(files)) {
    if (!files_.empty()) size_ = files_.back().first + files_.back().records;
  }

  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::optional<Element>> Get(std::uint64_t, std::uint64_t index) const override {
    if (index >= size_) return std::optional<Element>();
    const auto behind = std::ranges::upper_bound(files_, index, {}, &Indexed::first);
    // The last one that begins at or before it; those without records begin where the next does.
    const auto file = static_cast<std::size_t>(behind - files_.begin()) - 1;
    const std::uint64_t record = index - files_[file].first;
    PSTRAIN_ASSIGN_OR_RETURN(Reader reader, ReaderAt(file, record));
    for (; reader.next < record; ++reader.next) {
      PSTRAIN_ASSIGN_OR_RETURN(const bool passed, reader.cursor->Skip());
      if (!passed) return Changed(files_[file].file);
    }
    PSTRAIN_ASSIGN_OR_RETURN(std::optional<Element> element, reader.cursor->Next());
    if (!element) return Changed(files_[file].file);
    ++reader.next;
    Return(std::move(reader));
    return element;
  }

 private:
  struct Reader {
    std::size_t file = 0;
    /// The record that it stands in front of.
    std::uint64_t next = 0;
    std::unique_ptr<RecordCursor> cursor = nullptr;
  };

  static Status Changed(const InputFile& file) {
    return FailedPreconditionError(file.name +
                                   ": the file has changed since the dataset was opened; leave "
                                   "files as they are while a program reads them");
  }

  /// In front of the record, or shortly before it.
  Result<Reader> ReaderAt(std::size_t file, std::uint64_t record) const PSTRAIN_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      const auto near = std::ranges::find_if(idle_, [&](const Reader& reader) {
        return reader.file == file && reader.next <= record &&
               record - reader.next < kRecordsPerPlace;
      });
      if (near != idle_.end()) {
        Reader reader = std::move(*near);
        idle_.erase(near);
        return reader;
      }
    }
    const Indexed& indexed = files_[file];
    PSTRAIN_ASSIGN_OR_RETURN(const Stamp stamp, StampOf(indexed.file));
    if (stamp != indexed.stamp) return Changed(indexed.file);
    const std::uint64_t place = record / kRecordsPerPlace;
    Reader reader{.file = file, .next = place * kRecordsPerPlace};
    PSTRAIN_ASSIGN_OR_RETURN(reader.cursor, format_->Open(indexed.file, indexed.places[place]));
    return reader;
  }

  void Return(Reader reader) const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(reader));
    if (idle_.size() > kMostIdle) idle_.erase(idle_.begin());
  }

  const ScratchDirectory scratch_;
  const std::unique_ptr<const RecordFormat> format_;
  const std::vector<Indexed> files_;
  std::uint64_t size_ = 0;
  mutable Mutex mutex_;
  mutable std::vector<Reader> idle_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace

Result<DataNodePtr> OpenIndexedFiles(std::unique_ptr<const RecordFormat> format,
                                     const std::vector<InputFile>& files,
                                     ScratchDirectory scratch) {
  std::vector<Indexed> indexed;
  std::uint64_t records = 0;
  for (const InputFile& file : files) {
    PSTRAIN_ASSIGN_OR_RETURN(Indexed one, Index(*format, file));
    one.first = records;
    records += one.records;
    indexed.push_back(std::move(one));
  }
  return DataNodePtr(
      std::make_shared<IndexedFiles>(std::move(format), std::move(indexed), std::move(scratch)));
}

}  // namespace pstrain::program
