#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// Files by path. Every error names the path and the attempted action; errno maps to the code as
/// ErrnoError does (NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED for a full
/// disk, UNAVAILABLE for what a device or network file system refuses now, ...). Free functions
/// without state; any thread. Tests make them fail by base/os/file_faults.h.

/// The whole content. A directory or an unreadable file is an error.
Result<std::string> ReadFile(const std::string& path);

/// Writes `content` so that `path` holds either all of it or what it held before, also across a
/// crash: a temporary name in the same directory that no other process has, fsync, `last_check`,
/// rename, fsync of the directory. On error, also one of `last_check`, which is returned as it is,
/// the temporary file is removed. The directory must exist.
Status WriteFileAtomically(const std::string& path, std::string_view content,
                           const std::function<Status()>& last_check = {});

/// As WriteFileAtomically without the last step: the content is durable, the name is once the
/// directory has been fsynced, so that many files share one fsync of it (FsyncDirectory).
Status ReplaceFile(const std::string& path, std::string_view content);

/// Writes and fsyncs a file under its own name, replacing what is there; NOT atomic: for parts
/// that only count once something else (a manifest) names them. A half-written file is removed on
/// error.
Status WriteFileSynced(const std::string& path, std::string_view content);

/// Creates the file with `content` and fsyncs it and its directory; ALREADY_EXISTS when the path
/// exists, also when another process creates it at the same time. A reader may see the file before
/// its content is complete.
Status CreateExclusive(const std::string& path, std::string_view content);

/// Renames and fsyncs the directory of `to`. Both in one file system; replaces a file at `to`.
Status RenameFile(const std::string& from, const std::string& to);

/// The directory and its missing parents (mode 0777 less umask); OK when it exists already. Its
/// name is durable then, and so are those of the parents that were made: each call syncs what has
/// the name of the directory or of its first parent that is there, for whoever has made it may have
/// failed to. After an error some of them may exist; the next call makes up for it.
Status CreateDirectories(const std::string& path);

/// Makes the names inside a directory durable.
Status FsyncDirectory(const std::string& path);

/// The names in a directory without "." and "..", sorted by bytes.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

/// Removes a file, or a directory with all that is in it; links are not followed. OK when absent.
Status RemoveAll(const std::string& path);

/// Removes one file or empty directory; NOT_FOUND when absent.
Status RemoveFile(const std::string& path);

/// Something exists at `path` (links followed) that can be examined.
bool FileExists(const std::string& path);
bool IsDirectory(const std::string& path);

struct FileInfo {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_unix_ms = 0;
  bool is_directory = false;
};
Result<FileInfo> GetFileInfo(const std::string& path);

/// "a/b" and "c" -> "a/b/c". An absolute `name` stands alone; an empty part adds no slash.
std::string JoinPath(std::string_view directory, std::string_view name);
/// All before the last slash: "." when there is none, "/" for a name in the root.
std::string ParentPath(std::string_view path);
/// All after the last slash.
std::string BaseName(std::string_view path);

/// A fresh directory below $TMPDIR or /tmp, removed with all that is in it by the destructor.
/// Aborts when it cannot be made. For tests.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  /// JoinPath(path(), name).
  std::string File(std::string_view name) const { return JoinPath(path_, name); }

 private:
  std::string path_;
};

}  // namespace pstrain
