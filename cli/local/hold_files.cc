#include "cli/local/hold_files.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/files.h"
#include "cli/local/run_report.h"
#include "proto/run_files.h"

namespace pstrain::local {

Result<HoldFiles> HoldFiles::Open(const PSTrainingJob& job, const std::string& run_id) {
  if (!job.spec().has_training()) return HoldFiles("");
  HoldFiles files(RunDirectory(job, run_id));
  if (!IsDirectory(files.directory_)) return files;
  PSTRAIN_ASSIGN_OR_RETURN(const auto names, ListDirectory(files.directory_));
  for (const std::string& name : names) {
    if (!name.starts_with(kRunHoldPrefix)) continue;
    PSTRAIN_RETURN_IF_ERROR(RemoveFile(JoinPath(files.directory_, name)));
  }
  return files;
}

HoldFiles::HoldFiles(HoldFiles&& other) noexcept
    : directory_(std::move(other.directory_)), files_(std::exchange(other.files_, {})) {}

HoldFiles::~HoldFiles() {
  // Best effort: who goes on with the run removes what has stayed.
  for (const auto& [percent, file] : files_) static_cast<void>(RemoveFile(file));
}

Status HoldFiles::Set(const std::set<double>& percents) {
  if (directory_.empty()) return OkStatus();
  for (auto held = files_.begin(); held != files_.end();) {
    if (percents.contains(held->first)) {
      ++held;
      continue;
    }
    const std::string file = std::move(held->second);
    held = files_.erase(held);
    PSTRAIN_RETURN_IF_ERROR(RemoveFile(file));
  }
  for (const double percent : percents) {
    if (!files_.contains(percent)) PSTRAIN_RETURN_IF_ERROR(Make(percent));
  }
  return OkStatus();
}

Status HoldFiles::Make(double percent) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), percent).ptr;
  const std::string file = JoinPath(directory_, kRunHoldPrefix + std::string(digits.data(), end));
  files_[percent] = file;
  constexpr const char* kField = "spec.training.checkpoint.directory must be writable";
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory_).WithContext(kField));
  return WriteFileAtomically(file, "").WithContext(kField);
}

}  // namespace pstrain::local
