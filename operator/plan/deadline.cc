#include <chrono>
#include <string>

#include "operator/plan/policies.h"
#include "operator/plan/timestamp.h"

namespace pstrain::plan {

void DecideDeadline(PlanBuilder& builder) {
  const RunPolicy& policy = builder.spec().run_policy();
  if (builder.Finished() || policy.suspend()) return;
  if (builder.status().start_time().empty()) {
    builder.status().set_start_time(FormatTimestamp(builder.now()));
  }
  if (!policy.has_active_deadline_seconds()) return;
  const std::optional<Time> start = ParseTimestamp(builder.status().start_time());
  if (!start) return;
  const Time deadline = *start + std::chrono::seconds(policy.active_deadline_seconds());
  if (builder.now() < deadline) {
    builder.Requeue(deadline);
    return;
  }
  builder.Finish(JobStatus::Failed, "DeadlineExceeded",
                 "the job was active for more than " +
                     std::to_string(policy.active_deadline_seconds()) + " s");
}

}  // namespace pstrain::plan
