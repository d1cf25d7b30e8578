#include "operator/plan/policies.h"

namespace pstrain::plan {

void DecideSuccess(PlanBuilder& builder) {
  if (!builder.ChiefSucceeded()) return;
  // The built-in chief exits 0 only when the final evaluation is in or overdue and the result is in
  // place; the evaluator is released after that, and how it goes decides nothing any more. Of a
  // program of one's own nothing is known: there both have to end well.
  if (!builder.spec().has_training()) {
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), Role::kEvaluator); ++i) {
      if (!builder.FindRecord({Role::kEvaluator, i}).succeeded()) return;
    }
  }
  builder.Finish(JobStatus::Succeeded, "JobSucceeded", "the chief has finished");
}

}  // namespace pstrain::plan
