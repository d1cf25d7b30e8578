#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

// A record source reads one kind of file: it finds where records begin (Scan) and turns them into
// texts (Decode). The rest of runtime/input cuts files into blocks and batches and does not know
// what a file looks like inside.
//
// A new source is a folder beside csv/, a member of Input in proto/job/psjob.proto that has the
// fields `files`, `bad_records` and `compression`, and a line in the table of record_source.cc.

namespace pstrain {

/// A place in a file, in front of a record: bytes that only the source which made them can read.
/// The index stores them. Empty: in front of the first record.
using RecordPosition = std::string;

/// One file of an input.
struct InputFile {
  /// The path that the job gives; messages call the file so.
  std::string name;
  /// Its content without compression (runtime/input/plain_file.h).
  std::filesystem::path plain;
};

/// Whether the label of a record is read. Where it is not, it is 0.
enum class Labels : std::uint8_t {
  kRequired,  // a record without a good label has a problem
  kIgnored,   // what is there is not looked at; a header, and an example, need not have it
  kAbsent,    // as kIgnored, and records of files without a header have no place for it
};

/// What is wanted of each record.
struct RecordLayout {
  /// Names of the values, as the features call them.
  std::vector<std::string> columns;
  bool fingerprint = false;
  Labels labels = Labels::kRequired;
};

/// A decoded record. Meant to be used for one record after the other, which spares allocations.
struct Record {
  /// Parallel to RecordLayout::columns; empty where the record has no such value. They point into
  /// the decoder and are valid until its next call.
  std::vector<std::string_view> texts;
  /// In [0, 1].
  float label = 0;
  /// Depends on everything that the record holds; set when the layout wants it.
  std::uint64_t fingerprint = 0;
  /// Why the record cannot be used, without file and place; then the other members mean nothing.
  /// Empty when it can.
  std::string problem;
};

/// The bytes of the plain file that a reader has passed: [begin, end).
struct PassedBytes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t crc32c = 0;
  friend bool operator==(const PassedBytes&, const PassedBytes&) = default;
};

/// Finds the records of one file, from the first to the last. One thread at a time.
class RecordScanner {
 public:
  virtual ~RecordScanner() = default;

  /// Passes the next record; false at the end of the file. Errors as RecordDecoder::Next.
  virtual Result<bool> Next() = 0;
  /// In front of the record that Next passes next.
  virtual RecordPosition Position() const = 0;
  /// The bytes since the last call, or since the first record: those of the records passed, and
  /// what lies between them.
  virtual PassedBytes TakePassed() = 0;
};

/// Decodes records of any file of one input. One thread at a time.
class RecordDecoder {
 public:
  virtual ~RecordDecoder() = default;

  /// The next record is the one behind `from`. NOT_FOUND when the file is gone, DATA_LOSS when the
  /// source did not make this position or the file is shorter.
  virtual Status Seek(const InputFile& file, const RecordPosition& from) = 0;
  /// Passes a record without decoding it; otherwise as Next.
  virtual Result<bool> Skip() = 0;
  /// False at the end of the file. A record that its writer got wrong has a `problem`, and the one
  /// behind it can be read. An error means that nobody can tell where the next record begins, or
  /// that the file is damaged: its message names file and place, and Seek must come next.
  virtual Result<bool> Next(Record& record) = 0;
  /// The bytes since the last call or Seek, as RecordScanner::TakePassed: equal for equal records.
  virtual PassedBytes TakePassed() = 0;
  /// The file and the place in it of the record that Next passed last, for messages.
  virtual std::string Where() const = 0;
};

/// One input of a job. Immutable; any thread may use it. What it makes may outlive it.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  /// The names of the columns in file order, from the job or the file; empty for a source whose
  /// records name their own values. INVALID_ARGUMENT names the file.
  virtual Result<std::vector<std::string>> Columns(const InputFile& file) const = 0;
  virtual Result<std::unique_ptr<RecordScanner>> Scan(const InputFile& file) const = 0;
  /// `columns`: what Columns says of the files. INVALID_ARGUMENT names what the layout wants and
  /// the files do not have.
  virtual Result<std::unique_ptr<RecordDecoder>> Decode(const std::vector<std::string>& columns,
                                                        const RecordLayout& layout) const = 0;
};

/// The source of an input. INVALID_ARGUMENT when no kind of input is given.
Result<std::unique_ptr<RecordSource>> CreateRecordSource(const Input& input);

}  // namespace pstrain
