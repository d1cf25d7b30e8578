#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace pstrain {

/// A fresh directory below $TMPDIR or /tmp, which goes away with this. One owner, one thread.
class ScratchDirectory {
 public:
  /// The error of the file system, with the path.
  static Result<ScratchDirectory> Create();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}

  /// Empty after a move.
  std::string path_;
};

}  // namespace pstrain
