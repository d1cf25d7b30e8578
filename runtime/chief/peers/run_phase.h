#pragma once

#include <optional>

#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {

/// Where the run is: what the answer to a poll depends on beside the peer. A value; Chief makes one
/// for each poll, and any thread may read it.
struct RunPhase {
  /// Everybody is told to end: with exit code 0 (finished), else 85.
  bool releasing = false;
  bool finished = false;
  /// Nothing is granted for now.
  bool grants_wait = false;
  /// The newest checkpoint in place: what is to be evaluated.
  std::optional<CheckpointId> newest = std::nullopt;
};

}  // namespace pstrain
