// Calls of functions that change nothing (docs/design/read-only-functions.md).
#include <utility>

#include "library/worker/closure_loop.h"

namespace pstrain {

// Rule 2. Invariant: nothing of it is pushed, whatever it has come to.
ClosureLoop::Ending ClosureLoop::ReportReadOnly(const Grant& grant, ClosureOutcome outcome) {
  Status ended = PlanOf(outcome).status();
  if (ended.ok() && !(outcome.updates.dense.empty() && outcome.updates.rows.empty())) {
    ended = FailedPreconditionError(outcome.function +
                                    " changes variables, and its caller has registered it with "
                                    "writes = false; start coordinator and workers from one build");
  }
  Report report;
  if (ended.ok()) {
    report.set_result(std::move(outcome.result));
  } else {
    SetError(ended, report.mutable_error());
  }
  stats_.steps->Add();
  calls_.ReportReadOnly(grant, std::move(report));
  return Ending::kDone;
}

}  // namespace pstrain
