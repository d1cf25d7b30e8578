#include <chrono>
#include <string>

#include "operator/plan/policies.h"
#include "operator/plan/timestamp.h"

namespace pstrain::plan {

void DecideDeadline(Draft& draft) {
  const RunPolicy& policy = draft.spec().run_policy();
  if (draft.Finished() || policy.suspend()) return;
  if (draft.status().start_time().empty()) {
    draft.status().set_start_time(FormatTimestamp(draft.now()));
  }
  if (!policy.has_active_deadline_seconds()) return;
  const std::optional<Time> start = ParseTimestamp(draft.status().start_time());
  if (!start) return;
  const Time deadline = *start + std::chrono::seconds(policy.active_deadline_seconds());
  if (draft.now() < deadline) {
    draft.Wake(deadline);
    return;
  }
  draft.Finish(JobStatus::Failed, "DeadlineExceeded",
               "the job was active for more than " +
                   std::to_string(policy.active_deadline_seconds()) + " s");
}

}  // namespace pstrain::plan
