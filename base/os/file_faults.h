#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pstrain {

/// Makes the calls of base/os/files.h fail or wait, for tests of what a disk can do: EIO, ESTALE,
/// ENOSPC, a network file system that hangs. While an object lives, each system call asks it
/// first: `fault` gets the call's name (open, read, write, fsync, rename, mkdir,
/// list, stat) and the
/// path, and returns 0 (the call is made) or the errno that it fails with. It may block. Without
/// one, a call costs one atomic load more. `listed`, which may be empty, gets the names that a
/// directory has and takes away what this process does not see yet. At most one lives at a time;
/// REQUIRES: no other thread is in a call of base/os/files.h when it is destroyed. Both are called
/// by any thread.
class ScopedFileFaults {
 public:
  using Fault = std::function<int(std::string_view call, const std::string& path)>;

  using Listed = std::function<void(const std::string& path, std::vector<std::string>& names)>;

  explicit ScopedFileFaults(Fault fault, Listed listed = nullptr);
  ~ScopedFileFaults();
  ScopedFileFaults(const ScopedFileFaults&) = delete;
  ScopedFileFaults& operator=(const ScopedFileFaults&) = delete;

  int FaultOf(std::string_view call, const std::string& path) const { return fault_(call, path); }
  void HideNames(const std::string& path, std::vector<std::string>& names) const;

 private:
  const Fault fault_;
  const Listed listed_;
};

/// What a call is to fail with now; 0 where no fault is wanted. For base/os/files.cc.
int FileFault(std::string_view call, const std::string& path);
/// Takes away names of a directory that are not to be seen now. For base/os/files.cc.
void HideListedNames(const std::string& path, std::vector<std::string>& names);

}  // namespace pstrain
