#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {

/// Keeps the chief from outrunning `pstrain run`, which is to kill or stop something at certain
/// percentages and may get no CPU for longer than the job takes (ARCHITECTURE.md, Kills at exact
/// moments). For each such percentage there is a file (kRunHoldPrefix in
/// proto/contract/run_files.h) until that has happened; it is usually gone before its limit is
/// reached. Owned by the chief; one thread at a time.
class GrantBarriers {
 public:
  /// Blocks nothing.
  GrantBarriers() = default;
  /// Finds the files that are in the run's directory now: later ones are not looked for. Other
  /// names are passed over. The error names the directory.
  static Result<GrantBarriers> Find(const std::string& run_directory);

  /// Drops those whose file has gone.
  void Refresh();
  /// As CommitProtocol::Grants, but no more than what brings the examples that are committed or
  /// with a worker to the lowest limit: 10 percentage points beyond the file's, at most 95 %, but
  /// never so low that its percentage could not be reached. Exceeds it by less than a batch.
  std::vector<GrantedWorkId> Grants(CommitProtocol& protocol, std::uint32_t worker,
                                    std::uint32_t want) const;

 private:
  struct Barrier {
    std::string file;
    double limit_percent = 0;
  };
  bool Reached(const CommitProgress& progress) const;

  std::vector<Barrier> barriers_;
};

}  // namespace pstrain
