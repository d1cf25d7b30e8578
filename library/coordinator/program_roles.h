#pragma once

#include "base/status.h"

namespace pstrain {

/// The roles of a run that this process has started: all of them, or the chief alone. One thread.
class ProgramRoles {
 public:
  /// Stop and Wait.
  virtual ~ProgramRoles() = default;
  /// Gives the run up: it does not finish, whatever is scheduled.
  virtual void Stop() = 0;
  /// Until they have ended: the run's exit code (0: finished), or why it has failed.
  virtual Result<int> Wait() = 0;
};

}  // namespace pstrain
