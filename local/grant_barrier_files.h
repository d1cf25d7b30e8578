#pragma once

#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::local {

/// The files by which `pstrain run` keeps the chief from outrunning it (kRunBarrierPrefix in
/// proto/contract/run_files.h, ARCHITECTURE.md, Kills at exact moments): one in the run's directory
/// for each percentage at which something is to happen that has not happened yet. Removed by the
/// destructor. One thread.
class GrantBarrierFiles {
 public:
  /// Removes what an earlier part of the run has left. REQUIRES: no replica runs yet.
  static Result<GrantBarrierFiles> Open(const PSTrainingJob& job, const std::string& run_id);
  GrantBarrierFiles(GrantBarrierFiles&& other) noexcept;
  GrantBarrierFiles& operator=(GrantBarrierFiles&&) = delete;
  ~GrantBarrierFiles();

  /// Removes the files of other percentages and makes those that are missing. A chief looks for
  /// them only when it starts. Does nothing for a job that brings its own program. The error names
  /// the file; it is not reported again.
  Status Set(const std::set<double>& percents);

 private:
  explicit GrantBarrierFiles(std::string directory) : directory_(std::move(directory)) {}
  Status Make(double percent);

  std::string directory_;  // empty: the job has no spec.training
  std::map<double, std::string> files_;
};

}  // namespace pstrain::local
