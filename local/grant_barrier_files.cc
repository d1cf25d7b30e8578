#include "local/grant_barrier_files.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/os/files.h"
#include "local/run_report.h"
#include "proto/contract/run_files.h"

namespace pstrain::local {

Result<GrantBarrierFiles> GrantBarrierFiles::Open(const PSTrainingJob& job,
                                                  const std::string& run_id) {
  if (!job.spec().has_training()) return GrantBarrierFiles("");
  GrantBarrierFiles files(RunDirectory(job, run_id));
  const auto names = ListDirectory(files.directory_);
  // Where a file is in its place, the chief says so.
  const bool nothing = names.status().code() == StatusCode::kNotFound ||
                       names.status().code() == StatusCode::kFailedPrecondition;
  if (nothing) return files;
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!name.starts_with(kRunBarrierPrefix)) continue;
    PSTRAIN_RETURN_IF_ERROR(RemoveFile(JoinPath(files.directory_, name)));
  }
  return files;
}

GrantBarrierFiles::GrantBarrierFiles(GrantBarrierFiles&& other) noexcept
    : directory_(std::move(other.directory_)), files_(std::exchange(other.files_, {})) {}

GrantBarrierFiles::~GrantBarrierFiles() {
  // Best effort: whoever resumes the run removes what has stayed.
  for (const auto& [percent, file] : files_) static_cast<void>(RemoveFile(file));
}

Status GrantBarrierFiles::Set(const std::set<double>& percents) {
  if (directory_.empty()) return OkStatus();
  for (auto barrier = files_.begin(); barrier != files_.end();) {
    if (percents.contains(barrier->first)) {
      ++barrier;
      continue;
    }
    const std::string file = std::move(barrier->second);
    barrier = files_.erase(barrier);
    PSTRAIN_RETURN_IF_ERROR(RemoveFile(file));
  }
  for (const double percent : percents) {
    if (!files_.contains(percent)) PSTRAIN_RETURN_IF_ERROR(Make(percent));
  }
  return OkStatus();
}

Status GrantBarrierFiles::Make(double percent) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), percent).ptr;
  const std::string file =
      JoinPath(directory_, kRunBarrierPrefix + std::string(digits.data(), end));
  files_[percent] = file;
  constexpr const char* kField = "spec.training.checkpoint.directory must be writable";
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory_).WithContext(kField));
  return WriteFileAtomically(file, "").WithContext(kField);
}

}  // namespace pstrain::local
