#include "runtime/checkpoint/chief_epoch.h"

#include <algorithm>

#include "base/files.h"
#include "base/parse_number.h"

namespace pstrain {
namespace {

std::string ChiefsDirectory(const std::string& run_directory) {
  return JoinPath(run_directory, "chiefs");
}

/// 0 for a name that is not a decimal number above 0.
std::uint64_t ParseEpoch(const std::string& name) {
  const auto epoch = ParseNumber<std::uint64_t>(name);
  return epoch && name == std::to_string(*epoch) ? *epoch : 0;
}

}  // namespace

Result<std::uint64_t> HighestChiefEpoch(const std::string& run_directory) {
  auto names = ListDirectory(ChiefsDirectory(run_directory));
  if (!names.ok()) {
    if (names.status().code() == StatusCode::kNotFound) return std::uint64_t{0};
    return names.status();
  }
  std::uint64_t highest = 0;
  for (const std::string& name : *names) highest = std::max(highest, ParseEpoch(name));
  return highest;
}

Result<std::uint64_t> TakeChiefEpoch(const std::string& run_directory) {
  const std::string directory = ChiefsDirectory(run_directory);
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory));
  for (;;) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t highest, HighestChiefEpoch(run_directory));
    const std::uint64_t epoch = highest + 1;
    const Status created = CreateExclusive(JoinPath(directory, std::to_string(epoch)), "");
    if (created.ok()) return epoch;
    // Another chief was faster: its epoch is the highest now.
    if (created.code() != StatusCode::kAlreadyExists) return created;
  }
}

Status CheckChiefEpoch(const std::string& run_directory, std::uint64_t epoch) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t highest, HighestChiefEpoch(run_directory));
  if (highest <= epoch) return OkStatus();
  return AbortedError("chief epoch " + std::to_string(highest) + " was taken after " +
                      std::to_string(epoch) + " in " + run_directory);
}

}  // namespace pstrain
