#include "runtime/checkpoint/chief_term.h"

#include <algorithm>

#include "base/os/files.h"
#include "base/text/parse_number.h"

namespace pstrain {
namespace {

std::string ChiefsDirectory(const std::string& run_directory) {
  return JoinPath(run_directory, "chiefs");
}

/// 0 for a name that is not a decimal number above 0.
std::uint64_t ParseTerm(const std::string& name) {
  const auto term = ParseNumber<std::uint64_t>(name);
  return term && name == std::to_string(*term) ? *term : 0;
}

}  // namespace

Result<std::uint64_t> HighestChiefTerm(const std::string& run_directory) {
  auto names = ListDirectory(ChiefsDirectory(run_directory));
  if (!names.ok()) {
    if (names.status().code() == StatusCode::kNotFound) return std::uint64_t{0};
    return names.status();
  }
  std::uint64_t highest = 0;
  for (const std::string& name : *names) highest = std::max(highest, ParseTerm(name));
  return highest;
}

Result<std::uint64_t> TakeChiefTerm(const std::string& run_directory) {
  const std::string directory = ChiefsDirectory(run_directory);
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory));
  for (;;) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t highest, HighestChiefTerm(run_directory));
    const std::uint64_t term = highest + 1;
    const Status created = CreateExclusive(JoinPath(directory, std::to_string(term)), "");
    if (created.ok()) return term;
    // Another chief was faster: its term is the highest now.
    if (created.code() != StatusCode::kAlreadyExists) return created;
  }
}

Status CheckChiefTerm(const std::string& run_directory, std::uint64_t term) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t highest, HighestChiefTerm(run_directory));
  if (highest <= term) return OkStatus();
  return AbortedError("chief term " + std::to_string(highest) + " was taken after " +
                      std::to_string(term) + " in " + run_directory);
}

}  // namespace pstrain
