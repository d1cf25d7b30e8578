#include "runtime/checkpoint/chief_term.h"

#include <algorithm>

#include "base/os/files.h"
#include "base/random.h"
#include "base/text/hex.h"
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

Result<ChiefTerm> TakeChiefTerm(const std::string& run_directory) {
  const std::string directory = ChiefsDirectory(run_directory);
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory));
  std::uint64_t taken = 0;
  while (true) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t highest, HighestChiefTerm(run_directory));
    const ChiefTerm term{std::max(highest, taken) + 1, std::max<std::uint64_t>(1, RandomSeed())};
    const std::string path = JoinPath(directory, std::to_string(term.number));
    const Status created = CreateExclusive(path, ToHex(term.id));
    // Another chief was faster, or its term is not listed yet (newest_checkpoint.h).
    if (created.code() == StatusCode::kAlreadyExists) {
      taken = term.number;
      continue;
    }
    PSTRAIN_RETURN_IF_ERROR(created);
    PSTRAIN_ASSIGN_OR_RETURN(const std::string stored, ReadFile(path));
    if (stored == ToHex(term.id)) return term;
  }
}

Status CheckChiefTerm(const std::string& run_directory, const ChiefTerm& term) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t highest, HighestChiefTerm(run_directory));
  const std::string number = std::to_string(term.number);
  if (highest > term.number) {
    return AbortedError("chief term " + std::to_string(highest) + " was taken after " + number +
                        " in " + run_directory);
  }
  if (term.id == 0) return OkStatus();
  const std::string path = JoinPath(ChiefsDirectory(run_directory), number);
  PSTRAIN_ASSIGN_OR_RETURN(const std::string stored, ReadFile(path));
  if (stored == ToHex(term.id)) return OkStatus();
  return AbortedError("another chief has taken chief term " + number + " too: its id is in " +
                      path);
}

}  // namespace pstrain
