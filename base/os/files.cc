#include "base/os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/os/file_faults.h"
#include "base/os/temporary_directory.h"
#include "base/os/unique_fd.h"
#include "base/random.h"

namespace pstrain {
namespace {

namespace fs = std::filesystem;

Status PathError(int error_number, std::string_view action, const std::string& path) {
  return ErrnoError(error_number, std::string(action) + " " + path);
}

/// True when a test wants this call to fail; errno says how.
bool Fails(std::string_view call, const std::string& path) {
  const int error_number = FileFault(call, path);
  if (error_number != 0) errno = error_number;
  return error_number != 0;
}

int OpenRetrying(const std::string& path, int flags, mode_t mode = 0) {
  if (Fails("open", path)) return -1;
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

Status WriteAll(int fd, std::string_view content, const std::string& path) {
  if (Fails("write", path)) return PathError(errno, "write", path);
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return PathError(errno, "write", path);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return OkStatus();
}

Status WriteSyncClose(UniqueFd& file, std::string_view content, const std::string& path) {
  PSTRAIN_RETURN_IF_ERROR(WriteAll(file.get(), content, path));
  if (Fails("fsync", path) || ::fsync(file.get()) != 0) return PathError(errno, "fsync", path);
  if (file.Close() != 0) return PathError(errno, "close", path);
  return OkStatus();
}

// Opens with `flags`, writes and syncs; what is half written goes away again.
Status CreateWithContent(const std::string& path, int flags, std::string_view content) {
  UniqueFd file(OpenRetrying(path, O_WRONLY | O_CREAT | flags, 0666));
  if (!file.valid()) return PathError(errno, "create", path);
  Status status = WriteSyncClose(file, content, path);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

// Not of the pid: two pods that share a directory may have the same one.
std::string TemporaryName(const std::string& path) {
  return path + ".tmp." + std::to_string(RandomSeed());
}

/// WriteFileAtomically without the last step.
Status Replace(const std::string& path, std::string_view content,
               const std::function<Status()>& last_check) {
  const std::string temporary = TemporaryName(path);
  PSTRAIN_RETURN_IF_ERROR(CreateWithContent(temporary, O_EXCL, content));
  Status status = last_check ? last_check() : OkStatus();
  if (status.ok() && (Fails("rename", path) || ::rename(temporary.c_str(), path.c_str()) != 0)) {
    status = PathError(errno, "rename to", path);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

/// 0 where a directory is at `path`; else the errno of why none is known to be.
int DirectoryError(const std::string& path) {
  struct stat info{};
  if (Fails("stat", path) || ::stat(path.c_str(), &info) != 0) return errno;
  return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

/// As DirectoryError, of a directory that is made where it is absent.
int MakeDirectory(const std::string& path) {
  if (!Fails("mkdir", path) && ::mkdir(path.c_str(), 0777) == 0) return 0;
  if (errno != EEXIST) return errno;
  // Another process was faster, or a link that leads nowhere has the name.
  const int found = DirectoryError(path);
  return found == ENOENT ? ENOTDIR : found;
}

/// The directory that has the name: of "a/b/" too it is "a".
std::string DirectoryOf(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return ParentPath(path);
}

/// Errors name `asked`, the path that the caller wants, also when a parent is in the way.
Status MakeDirectories(const std::string& path, const std::string& asked) {
  const std::string parent = DirectoryOf(path);
  int error_number = DirectoryError(path);
  if (error_number == ENOENT && parent != path) {
    PSTRAIN_RETURN_IF_ERROR(MakeDirectories(parent, asked));
    error_number = MakeDirectory(path);
  }
  if (error_number != 0) return PathError(error_number, "create directory", asked);
  if (parent == path) return OkStatus();
  // Also of one that is there already: whoever has made it may have died before this, or the sync
  // has failed. It costs little where nothing has changed since.
  const Status synced = FsyncDirectory(parent);
  // A directory in which one may write but not read cannot be synced.
  return synced.code() == StatusCode::kPermissionDenied ? OkStatus() : synced;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  UniqueFd file(OpenRetrying(path, O_RDONLY));
  if (!file.valid()) return PathError(errno, "open", path);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return PathError(errno, "stat", path);
  if (Fails("read", path)) return PathError(errno, "read", path);
  std::string content;
  std::size_t used = 0;
  // One byte more than the size tells the end without a second buffer; /proc files say 0.
  content.resize(static_cast<std::size_t>(std::max<off_t>(info.st_size, 4095)) + 1);
  for (;;) {
    const ssize_t got = ::read(file.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return PathError(errno, "read", path);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used == content.size()) content.resize(content.size() * 2);
  }
  content.resize(used);
  if (content.capacity() > 2 * used) content.shrink_to_fit();
  return content;
}

Status ReplaceFile(const std::string& path, std::string_view content) {
  return Replace(path, content, {});
}

Status WriteFileAtomically(const std::string& path, std::string_view content,
                           const std::function<Status()>& last_check) {
  PSTRAIN_RETURN_IF_ERROR(Replace(path, content, last_check));
  return FsyncDirectory(ParentPath(path));
}

Status WriteFileSynced(const std::string& path, std::string_view content) {
  return CreateWithContent(path, O_TRUNC, content);
}

Status CreateExclusive(const std::string& path, std::string_view content) {
  PSTRAIN_RETURN_IF_ERROR(CreateWithContent(path, O_EXCL, content));
  return FsyncDirectory(ParentPath(path));
}

Status RenameFile(const std::string& from, const std::string& to) {
  if (Fails("rename", to) || ::rename(from.c_str(), to.c_str()) != 0) {
    return PathError(errno, "rename " + from + " to", to);
  }
  return FsyncDirectory(ParentPath(to));
}

Status CreateDirectories(const std::string& path) { return MakeDirectories(path, path); }

Status FsyncDirectory(const std::string& path) {
  UniqueFd directory(OpenRetrying(path, O_RDONLY | O_DIRECTORY));
  if (!directory.valid()) return PathError(errno, "open directory", path);
  // Some network file systems have no fsync for directories and make renames durable themselves.
  if ((Fails("fsync", path) || ::fsync(directory.get()) != 0) && errno != EINVAL) {
    return PathError(errno, "fsync", path);
  }
  return OkStatus();
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  if (Fails("list", path)) return PathError(errno, "list directory", path);
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return PathError(error.value(), "list directory", path);
  HideListedNames(path, names);
  std::sort(names.begin(), names.end());
  return names;
}

Status RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return PathError(error.value(), "remove", path);
  return OkStatus();
}

Status RemoveFile(const std::string& path) {
  if (std::remove(path.c_str()) != 0) return PathError(errno, "remove", path);
  return OkStatus();
}

bool FileExists(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

bool IsDirectory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<FileInfo> GetFileInfo(const std::string& path) {
  struct stat info{};
  if (Fails("stat", path) || ::stat(path.c_str(), &info) != 0) {
    return PathError(errno, "stat", path);
  }
  FileInfo result;
  result.size_bytes = static_cast<std::uint64_t>(info.st_size);
  result.modified_unix_ms =
      std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000;
  result.is_directory = S_ISDIR(info.st_mode);
  return result;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || (!name.empty() && name.front() == '/')) return std::string(name);
  std::string joined(directory);
  if (name.empty()) return joined;
  if (joined.back() != '/') joined += '/';
  joined += name;
  return joined;
}

std::string ParentPath(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string BaseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

TempDir::TempDir() {
  Result<std::string> path = MakeTemporaryDirectory();
  if (!path.ok()) {
    std::fprintf(stderr, "%s\n", path.status().ToString().c_str());
    std::abort();
  }
  path_ = *std::move(path);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace pstrain
