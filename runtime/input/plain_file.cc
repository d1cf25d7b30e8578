#include "runtime/input/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>
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
  FileHandle file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return ErrnoError(errno, path);
  std::array<unsigned char, 2> magic{};
  const std::size_t read = std::fread(magic.data(), 1, magic.size(), file.get());
  return read == magic.size() && magic[0] == 0x1f && magic[1] == 0x8b;  // RFC 1952, section 2.3.1
}

Status Unpack(const std::string& path, const std::filesystem::path& target) {
  GzipHandle packed(gzopen(path.c_str(), "rbe"));
  if (packed == nullptr) return ErrnoError(errno, path);
  FileHandle plain(std::fopen(target.c_str(), "wbe"));
  if (plain == nullptr) return ErrnoError(errno, path + ": unpack to " + target.string());
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    const int bytes = gzread(packed.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    if (bytes < 0) return DataLossError(path + ": the gzip data are corrupt");
    if (bytes == 0) break;
    const auto size = static_cast<std::size_t>(bytes);
    if (std::fwrite(chunk.data(), 1, size, plain.get()) != size) {
      return ErrnoError(errno, path + ": unpack to " + target.string());
    }
  }
  if (gzclose_r(packed.release()) != Z_OK) {
    return DataLossError(path + ": the gzip data are cut short");
  }
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
