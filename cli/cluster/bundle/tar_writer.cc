#include "cli/cluster/bundle/tar_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace pstrain::cluster {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kChecksumAt = 148;
constexpr std::size_t kChecksumBytes = 8;

void Put(std::array<char, kBlock>& header, std::size_t at, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) header[at + i] = text[i];
}

/// A number in octal digits, as many as the field has but one.
std::string Octal(std::uint64_t value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
  return text.data();
}

std::array<char, kBlock> Header(const std::string& name, std::uint64_t size, std::int64_t time) {
  std::array<char, kBlock> header{};
  Put(header, 0, name);
  Put(header, 100, "0000600");  // mode
  Put(header, 108, "0000000");  // uid
  Put(header, 116, "0000000");  // gid
  Put(header, 124, Octal(size, 11));
  Put(header, 136, Octal(static_cast<std::uint64_t>(time), 11));
  Put(header, kChecksumAt, "        ");
  Put(header, 156, "0");  // a plain file
  Put(header, 257,
      std::string_view("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  Put(header, kChecksumAt, Octal(sum, 6) + std::string("\0 ", 2));
  static_assert(kChecksumBytes == 8);
  return header;
}

}  // namespace

Result<TarWriter> TarWriter::Create(const std::string& path, std::int64_t unix_seconds) {
  constexpr mode_t kOwnerOnly = 0600;
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  if (!fd.valid()) return ErrnoError(errno, "create '" + path + "'");
  return TarWriter(path, std::move(fd), unix_seconds);
}

TarWriter::TarWriter(TarWriter&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      fd_(std::move(other.fd_)),
      unix_seconds_(other.unix_seconds_) {}

TarWriter::~TarWriter() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status TarWriter::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError(errno, "write '" + path_ + "'");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return OkStatus();
}

Status TarWriter::Add(const std::string& name, std::string_view content) {
  if (name.empty() || name.size() > kNameBytes) {
    return InvalidArgumentError("a name in an archive has 1 to 100 bytes: " + name);
  }
  const auto header = Header(name, content.size(), unix_seconds_);
  PSTRAIN_RETURN_IF_ERROR(WriteAll({header.data(), header.size()}));
  PSTRAIN_RETURN_IF_ERROR(WriteAll(content));
  const std::size_t over = content.size() % kBlock;
  return WriteAll(std::string(over == 0 ? 0 : kBlock - over, '\0'));
}

Status TarWriter::Finish() {
  PSTRAIN_RETURN_IF_ERROR(WriteAll(std::string(2 * kBlock, '\0')));
  if (::fsync(fd_.get()) != 0 || fd_.Close() != 0) {
    return ErrnoError(errno, "write '" + path_ + "'");
  }
  path_.clear();
  return OkStatus();
}

}  // namespace pstrain::cluster
