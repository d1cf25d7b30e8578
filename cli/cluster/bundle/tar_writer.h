#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/os/unique_fd.h"
#include "base/status.h"

namespace pstrain::cluster {

/// Writes a new tar archive of plain files, in the order of Add, that nobody but its owner may
/// read. What was not Finished is removed. One thread.
/// Source of the format: POSIX.1-2017, pax, "ustar Interchange Format".
class TarWriter {
 public:
  /// ALREADY_EXISTS: nothing is written over.
  static Result<TarWriter> Create(const std::string& path, std::int64_t unix_seconds);
  TarWriter(TarWriter&& other) noexcept;
  TarWriter& operator=(TarWriter&&) = delete;
  ~TarWriter();

  /// INVALID_ARGUMENT for a name longer than 100 bytes.
  Status Add(const std::string& name, std::string_view content);
  /// The end of the archive; it is durable.
  Status Finish();

 private:
  TarWriter(std::string path, UniqueFd fd, std::int64_t unix_seconds)
      : path_(std::move(path)), fd_(std::move(fd)), unix_seconds_(unix_seconds) {}
  Status WriteAll(std::string_view bytes);

  std::string path_;
  UniqueFd fd_;
  std::int64_t unix_seconds_;
};

}  // namespace pstrain::cluster
