#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace pstrain {

/// A folder that is there only when all that belongs into it is: it is filled under the name
/// `<output>.part` and renamed. One thread.
class ExportDirectory {
 public:
  /// ALREADY_EXISTS: there is something at `output`, or at the name under which it is filled, which
  /// another export has now or has left behind. Other errors of the file system name the path.
  /// Missing parents are made.
  static Result<ExportDirectory> Create(std::string output);
  ExportDirectory(ExportDirectory&& other) noexcept
      : output_(std::move(other.output_)), part_(std::exchange(other.part_, {})) {}
  ExportDirectory& operator=(ExportDirectory&&) = delete;
  /// Without Finish nothing is left.
  ~ExportDirectory();

  /// Where a file is written until Finish.
  std::string File(std::string_view name) const;
  /// RESOURCE_EXHAUSTED: the file system has no room for so many bytes.
  Status CheckRoom(std::uint64_t bytes) const;
  /// The files are durable; so is the folder then.
  Status Finish();

 private:
  ExportDirectory(std::string output, std::string part)
      : output_(std::move(output)), part_(std::move(part)) {}

  std::string output_;
  /// Empty when it has been moved from or is finished.
  std::string part_;
};

}  // namespace pstrain
