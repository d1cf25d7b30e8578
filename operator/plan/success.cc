#include "operator/plan/policies.h"

namespace pstrain::plan {

void DecideSuccess(Draft& draft) {
  if (!draft.ChiefSucceeded()) return;
  // The built-in chief exits 0 only when the final evaluation is in or overdue and the result is in
  // place; the evaluator is released after that, and how it goes decides nothing any more. Of a
  // program of one's own nothing is known: there both have to end well.
  if (!draft.spec().has_training()) {
    for (std::int32_t i = 0; i < DesiredReplicas(draft.spec(), Role::kEvaluator); ++i) {
      if (!draft.FindRecord({Role::kEvaluator, i}).succeeded()) return;
    }
  }
  draft.Finish(JobStatus::Succeeded, "JobSucceeded", "the chief has finished");
}

}  // namespace pstrain::plan
