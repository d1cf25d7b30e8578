#pragma once

#include <sys/types.h>

#include <string>

namespace pstrain::input_test {

/// While one lives, read(2) on a file whose path has a certain part fails, also where a library
/// makes the call (libstdc++, zlib; not libc's own FILE). At most one lives at a time; while it
/// does, one thread reads files.
class FailingReads {
 public:
  /// The first `good` calls on such a file are made.
  FailingReads(std::string part, int error, int good = 0);
  ~FailingReads();
  FailingReads(const FailingReads&) = delete;
  FailingReads& operator=(const FailingReads&) = delete;

  /// What the call is to fail with; 0: it is made.
  int ErrorOf(int fd);

 private:
  const std::string part_;
  const int error_;
  int good_;
};

}  // namespace pstrain::input_test
