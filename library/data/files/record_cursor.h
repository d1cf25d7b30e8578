#pragma once

#include <pstrain/iterator.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/input/record_position.h"
#include "runtime/input/record_source.h"

namespace pstrain::program {

/// Reads the records of one file in order. One thread at a time.
class RecordCursor {
 public:
  virtual ~RecordCursor() = default;
  /// In front of the next record.
  virtual NumberedOffset position() const = 0;
  /// Passes the next record; false at the end of the file. An error names file and record: it has
  /// no form that this kind of file can have.
  virtual Result<bool> Skip() = 0;
  /// The next record as an element; nothing at the end of the file. An error names file and record,
  /// and the cursor is to be dropped.
  virtual Result<std::optional<Element>> Next() = 0;
};

/// How one kind of file is read. Immutable; any thread.
class RecordFormat {
 public:
  virtual ~RecordFormat() = default;
  /// In front of the record at `from`; without it, of the first one.
  virtual Result<std::unique_ptr<RecordCursor>> Open(
      const InputFile& file, const std::optional<NumberedOffset>& from) const = 0;
};

}  // namespace pstrain::program
