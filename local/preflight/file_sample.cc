#include "local/preflight/file_sample.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/os/unique_fd.h"
#include "local/preflight/texts.h"
#include "runtime/input/input_files.h"

namespace pstrain::preflight {
namespace {

constexpr std::size_t kShown = 5;

std::vector<std::string> FilesIn(const std::string& directory) {
  const Result<std::vector<std::string>> names = ListDirectory(directory);
  std::vector<std::string> files;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!IsDirectory(JoinPath(directory, name))) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Who asks for one file, as `pstrain init`, may have written a pattern.
std::string AboutAbsent(const std::string& path) {
  if (!IsPattern(path)) return AboutFolderOf(path);
  const Result<std::vector<std::string>> matches = MatchFiles(path);
  return matches.ok()
             ? "; patterns are not expanded here: give one file, of " + Listed(*matches, kShown)
             : "; it matches nothing as a pattern either";
}

/// Reads up to `most` bytes.
Result<std::string> ReadBeginning(const std::string& path, std::size_t most) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoError(errno, path);
  std::string bytes(most, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError(errno, path + ": read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

struct Inflater {
  z_stream stream{};
  ~Inflater() { inflateEnd(&stream); }
};

/// The beginning of what gzip data unpack to, members one after the other (RFC 1952, 2.2). `cut`:
/// more would follow.
Result<std::string> Unpack(const std::string& name, std::string packed, std::size_t most,
                           bool& cut) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return InternalError(name + ": zlib cannot start");
  std::string text(most, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  int end = Z_OK;
  while (stream.avail_in > 0 && stream.avail_out > 0) {
    end = inflate(&stream, Z_NO_FLUSH);
    if (end == Z_STREAM_END && stream.avail_in > 0 && *stream.next_in == 0x1f) {
      end = inflateReset(&stream);
    } else if (end != Z_OK) {
      break;
    }
  }
  const std::size_t unpacked = text.size() - stream.avail_out;
  if (end != Z_OK && end != Z_STREAM_END && end != Z_BUF_ERROR && unpacked == 0) {
    return InvalidArgumentError(name + ": the gzip data are corrupt");
  }
  text.resize(unpacked);
  if (end != Z_STREAM_END && !cut && stream.avail_out > 0) {
    return InvalidArgumentError(name + ": the gzip data are " +
                                (end == Z_DATA_ERROR ? "corrupt" : "cut short"));
  }
  cut = cut || end != Z_STREAM_END;
  return text;
}

/// What is packed or written in a way that nothing here reads; empty for anything else.
std::string ForeignForm(std::string_view bytes) {
  constexpr std::array<std::pair<std::string_view, const char*>, 8> kForms = {{
      {"PK\x03\x04", "a zip archive; unpack it, or compress the file with gzip"},
      {"BZh", "compressed with bzip2; decompress it, or compress the file with gzip"},
      {"\xfd\x37zXZ", "compressed with xz; decompress it, or compress the file with gzip"},
      {"\x28\xb5\x2f\xfd", "compressed with zstd; decompress it, or compress the file with gzip"},
      {"PAR1", "a Parquet file; write it as CSV or TFRecord"},
      {"SQLite format 3", "a SQLite database; write it as CSV"},
      {"\xff\xfe", "UTF-16 text; save it as UTF-8"},
      {"\xfe\xff", "UTF-16 text; save it as UTF-8"},
  }};
  for (const auto& [magic, what] : kForms) {
    if (bytes.starts_with(magic)) return what;
  }
  return {};
}

}  // namespace

std::string AboutFolderOf(const std::string& path) {
  const std::string directory = ParentPath(path).empty() ? "." : ParentPath(path);
  if (!IsDirectory(directory)) return "; there is no folder " + directory;
  const std::vector<std::string> names = FilesIn(directory);
  std::string near = DidYouMean(BaseName(path), names);
  if (!near.empty()) return near;
  return names.empty() ? "; the folder is empty" : "; the folder has " + Listed(names, kShown);
}

Status CheckFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    const int error = errno;
    const std::string text = path + ": " + std::strerror(error);
    return InvalidArgumentError(error == ENOENT ? text + AboutAbsent(path) : text);
  }
  if (S_ISDIR(info.st_mode)) {
    const std::vector<std::string> names = FilesIn(path);
    return InvalidArgumentError(path + ": is a folder, not a file; " +
                                (names.empty() ? std::string("it has no files")
                                               : "list its files, here " + Listed(names, kShown)));
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgumentError(path +
                                ": is not a regular file; the input is read more than once, so "
                                "copy it to one");
  }
  if (info.st_size == 0) return InvalidArgumentError(path + ": the file is empty");
  if (access(path.c_str(), R_OK) != 0) {
    return InvalidArgumentError(path + ": " + std::strerror(errno) +
                                "; let this user read it, for instance by chmod +r");
  }
  return OkStatus();
}

Result<FileSample> SampleFile(const std::string& path, Input::Compression compression,
                              std::size_t most) {
  PSTRAIN_RETURN_IF_ERROR(CheckFile(path));
  FileSample sample;
  sample.name = path;
  PSTRAIN_ASSIGN_OR_RETURN(sample.text, ReadBeginning(path, most));
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return ErrnoError(errno, path);
  sample.cut = static_cast<std::size_t>(info.st_size) > sample.text.size();
  const bool packed = sample.text.starts_with("\x1f\x8b");  // RFC 1952, section 2.3.1
  if (packed && compression == Input::Plain) {
    return InvalidArgumentError(path +
                                ": is compressed with gzip, but compression says Plain; set "
                                "compression: Gzip, or leave it out");
  }
  if (!packed && compression == Input::Gzip) {
    return InvalidArgumentError(path +
                                ": is not compressed with gzip, but compression says Gzip; set "
                                "compression: Plain, or leave it out");
  }
  if (packed) {
    PSTRAIN_ASSIGN_OR_RETURN(sample.text, Unpack(path, std::move(sample.text), most, sample.cut));
    if (sample.text.empty()) {
      return InvalidArgumentError(path + ": is empty when it is decompressed");
    }
  }
  const std::string foreign = ForeignForm(sample.text);
  if (!foreign.empty()) return InvalidArgumentError(path + ": is " + foreign);
  return sample;
}

}  // namespace pstrain::preflight
