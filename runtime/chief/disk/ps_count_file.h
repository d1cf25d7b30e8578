#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pstrain {

/// The number that such a file says: decimal digits, and perhaps ends of lines. Nothing for
/// anything but a number of ps that a job may have. Pure.
std::optional<std::uint32_t> ParsePsCount(std::string_view text);

/// The number of ps that the job wants while its chief runs: a file that holds it as decimal
/// digits. In a cluster the kubelet writes it, from an annotation of the chief's pod that the
/// operator changes (a downwardAPI volume, kept up to date as
/// kubernetes.io/docs/concepts/workloads/pods/downward-api says). Only run_chief.cc knows it. One
/// thread at a time, which must not hold the chief's lock: this reads a disk.
class PsCountFile {
 public:
  /// `path` empty: there is no such file. `clock` outlives this.
  PsCountFile(std::string path, const Clock& clock) : path_(std::move(path)), clock_(clock) {}

  /// What the file says, read every second; nothing between two reads, and while there is no such
  /// file or it is empty. Anything but a number of ps that a job may have is logged once and passed
  /// over.
  std::optional<std::uint32_t> Poll();

 private:
  const std::string path_;
  const Clock& clock_;
  std::optional<std::chrono::nanoseconds> last_check_;
  std::string refused_;
};

}  // namespace pstrain
