#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/chief/peers/grant_limit.h"

namespace pstrain {

/// Keeps the chief from outrunning `pstrain run`, which is to kill or stop something at certain
/// percentages and may get no CPU for longer than the job takes (ARCHITECTURE.md, Kills at exact
/// moments). For each such percentage there is a file (kRunBarrierPrefix in
/// proto/contract/run_files.h) until that has happened; it is usually gone before its limit is
/// reached. Only run_chief.cc knows it, and gives it to a chief whose directory has such files. One
/// thread at a time.
class GrantBarriers final : public GrantLimit {
 public:
  /// Blocks nothing.
  GrantBarriers() = default;
  /// Finds the files that are in the run's directory now: later ones are not looked for. Other
  /// names are passed over. The error names the directory.
  static Result<GrantBarriers> Find(const std::string& run_directory);

  bool empty() const { return barriers_.empty(); }

  /// Drops those whose file has gone.
  void Refresh(Disk& disk) override;
  /// As CommitProtocol::Grants, but no more than what brings the examples that are committed or
  /// with a worker to the lowest limit: 10 percentage points beyond the file's, at most 95 %, but
  /// never so low that its percentage could not be reached. Exceeds it by less than a batch.
  std::vector<GrantedWorkId> Grants(CommitProtocol& protocol, std::uint32_t worker,
                                    std::uint32_t want) const override;
  /// A limit is reached.
  bool Blocks(const CommitProtocol& protocol) const override {
    return Reached(protocol.Progress());
  }

 private:
  struct Barrier {
    std::string file;
    double limit_percent = 0;
  };
  bool Reached(const CommitProgress& progress) const;

  std::vector<Barrier> barriers_;
  /// The disk looks for the files.
  bool looking_ = false;
};

}  // namespace pstrain
