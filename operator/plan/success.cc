#include "operator/plan/policies.h"

namespace pstrain::plan {

void DecideSuccess(Draft& draft) {
  if (!draft.ChiefSucceeded()) return;
  if (!draft.spec().has_training()) {
    for (std::int32_t i = 0; i < DesiredReplicas(draft.spec(), Role::kEvaluator); ++i) {
      if (!draft.FindRecord({Role::kEvaluator, i}).succeeded()) return;
    }
  }
  draft.Finish(JobStatus::Succeeded, "JobSucceeded", "the chief has finished");
}

}  // namespace pstrain::plan
