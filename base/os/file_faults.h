#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pstrain {

/// Makes the calls of base/os/files.h fail or wait, for tests of what a disk can do: EIO, ESTALE,
/// ENOSPC, a network file system that hangs. While an object lives, each system call asks it
/// first: `fault` gets the call's name (open, read, write, fsync, rename, mkdir,
/// list, stat) and the
/// path, and returns 0 (the call is made) or the errno that it fails with. It may block. Without
/// one, a call costs one atomic load more. At most one lives at a time; REQUIRES: no other thread
/// is in a call of base/os/files.h when it is destroyed. `fault` is called by any thread.
class ScopedFileFaults {
 public:
  using Fault = std::function<int(std::string_view call, const std::string& path)>;

  explicit ScopedFileFaults(Fault fault);
  ~ScopedFileFaults();
  ScopedFileFaults(const ScopedFileFaults&) = delete;
  ScopedFileFaults& operator=(const ScopedFileFaults&) = delete;

 private:
  const Fault fault_;
};

/// What a call is to fail with now; 0 where no fault is wanted. For base/os/files.cc.
int FileFault(std::string_view call, const std::string& path);

}  // namespace pstrain
