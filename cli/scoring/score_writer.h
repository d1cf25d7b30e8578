#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "base/status.h"

namespace pstrain {

/// Writes scores, a line each, to standard output or into a file that is there only when all of
/// them are in it. One thread.
class ScoreWriter {
 public:
  /// `path`: "-" is standard output. The error of the file system names the path.
  static Result<ScoreWriter> Open(const std::string& path);
  ScoreWriter(ScoreWriter&&) = default;
  ScoreWriter& operator=(ScoreWriter&&) = delete;
  /// Without Finish a file is as it was before.
  ~ScoreWriter();

  /// The shortest text that is read back as this float. OUT_OF_RANGE: it is not a number.
  Status Write(float score);
  /// All has been written.
  Status Finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const;
  };

  ScoreWriter(std::string path, std::unique_ptr<std::FILE, Closer> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  std::string Temporary() const { return path_ + ".part"; }
  bool to_standard_output() const { return path_ == "-"; }
  Status Failed() const;

  std::string path_;
  /// Null when it has been moved from or is finished.
  std::unique_ptr<std::FILE, Closer> file_;
  std::uint64_t written_ = 0;
};

}  // namespace pstrain
