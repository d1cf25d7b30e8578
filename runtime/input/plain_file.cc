#include "runtime/input/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <vector>

#include "base/os/unique_fd.h"
#include "base/text/fnv.h"

namespace pstrain {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

struct GzipCloser {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzipHandle = std::unique_ptr<gzFile_s, GzipCloser>;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

Result<struct stat> Inspect(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError(errno, path);
  if (S_ISDIR(info.st_mode)) return InvalidArgumentError(path + ": is a folder, not a file");
  if (info.st_size == 0) return InvalidArgumentError(path + ": the file is empty");
  return info;
}

Result<bool> HasGzipMagic(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoError(errno, path);
  std::array<unsigned char, 2> magic{};
  const ssize_t bytes = ::read(file.get(), magic.data(), magic.size());
  if (bytes < 0) return ErrnoError(errno, path + ": read");
  return bytes == 2 && magic[0] == 0x1f && magic[1] == 0x8b;  // RFC 1952, section 2.3.1
}

/// Of what zlib answers to a call before which errno was 0; `damaged`: what is wrong with the file
/// where its disk has answered.
Status GzipError(const std::string& path, int code, const char* damaged) {
  if (code == Z_ERRNO) return StreamError(path);
  if (code == Z_MEM_ERROR) return ErrnoError(ENOMEM, path + ": unpack");
  return DataLossError(path + ": the gzip data are " + damaged);
}

/// The next bytes, 0 at the end. Also after some bytes zlib may have met an error, which is asked
/// for now: later errno is another one's.
Result<std::size_t> ReadGzip(const std::string& path, gzFile packed, std::vector<char>& chunk) {
  errno = 0;
  const int bytes = gzread(packed, chunk.data(), static_cast<unsigned>(chunk.size()));
  int code = Z_OK;
  gzerror(packed, &code);
  if (bytes < 0 || code == Z_ERRNO) return GzipError(path, code, "corrupt");
  return static_cast<std::size_t>(bytes);
}

Status Unpack(const std::string& path, const std::filesystem::path& target) {
  GzipHandle packed(gzopen(path.c_str(), "rbe"));
  if (packed == nullptr) return ErrnoError(errno, path);
  FileHandle plain(std::fopen(target.c_str(), "wbe"));
  if (plain == nullptr) return ErrnoError(errno, path + ": unpack to " + target.string());
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::size_t size, ReadGzip(path, packed.get(), chunk));
    if (size == 0) break;
    if (std::fwrite(chunk.data(), 1, size, plain.get()) != size) {
      return ErrnoError(errno, path + ": unpack to " + target.string());
    }
  }
  errno = 0;
  const int closed = gzclose_r(packed.release());
  if (closed != Z_OK) return GzipError(path, closed, "cut short");
  if (std::fclose(plain.release()) != 0) {
    return ErrnoError(errno, path + ": unpack to " + target.string());
  }
  return OkStatus();
}

/// A name that changes when the packed file does.
std::string ScratchName(const std::string& path, const struct stat& info) {
  const std::string key = path + '\n' + std::to_string(info.st_size) + '\n' +
                          std::to_string(info.st_mtim.tv_sec) + '.' +
                          std::to_string(info.st_mtim.tv_nsec);
  return std::to_string(Fnv1a(key)) + ".plain";
}

}  // namespace

Result<std::filesystem::path> PlainFileOf(const std::string& path, Input::Compression compression,
                                          const std::filesystem::path& scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(const struct stat info, Inspect(path));
  if (compression == Input::Plain) return std::filesystem::path(path);
  PSTRAIN_ASSIGN_OR_RETURN(const bool packed, HasGzipMagic(path));
  if (!packed) {
    if (compression == Input::Gzip) return InvalidArgumentError(path + ": is not a gzip file");
    return std::filesystem::path(path);
  }
  std::error_code error;
  std::filesystem::create_directories(scratch, error);
  if (error) return ErrnoError(error.value(), "create " + scratch.string());
  const std::filesystem::path target = scratch / ScratchName(path, info);
  if (std::filesystem::exists(target, error)) return target;

  std::string temporary = target.string() + ".XXXXXX";
  if (!UniqueFd(::mkostemp(temporary.data(), O_CLOEXEC)).valid()) {
    return ErrnoError(errno, "create " + temporary);
  }
  const Status unpacked = Unpack(path, temporary);
  if (!unpacked.ok()) {
    std::filesystem::remove(temporary, error);
    return unpacked;
  }
  std::filesystem::rename(temporary, target, error);
  if (error) return ErrnoError(error.value(), "rename to " + target.string());
  return target;
}

Status StreamError(const std::string& what) {
  return errno != 0 ? ErrnoError(errno, what + ": read") : DataLossError(what + ": reading failed");
}

}  // namespace pstrain
