#pragma once

#include <cstdint>
#include <vector>

#include "runtime/chief/disk/disk.h"
#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {

/// What may keep the chief from granting more for now. A production run has none; `pstrain run`
/// asks for one where it is to stop or kill something at a percentage (grant_barriers.h). The
/// chief's lock guards it: one thread at a time.
class GrantLimit {
 public:
  virtual ~GrantLimit() = default;

  /// As CommitProtocol::Grants, but no more than the limit allows.
  virtual std::vector<GrantedWorkId> Grants(CommitProtocol& protocol, std::uint32_t worker,
                                            std::uint32_t want) const = 0;
  /// It grants nothing now, though there may be work.
  virtual bool Blocks(const CommitProtocol& protocol) const = 0;
  /// Called at each tick of the chief: has `disk` look whether the limit is still wanted. Outlives
  /// the disk's work.
  virtual void Refresh(Disk& disk) = 0;
};

}  // namespace pstrain
