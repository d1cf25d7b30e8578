#include <string>

#include "operator/plan/conditions.h"
#include "operator/plan/policies.h"

namespace pstrain::plan {
namespace {

/// What the chief that exited 0 has left behind; null when it is not known.
const FinalCounts* CountsOfChief(const PlanBuilder& builder) {
  if (!builder.spec().has_training()) return nullptr;
  for (const Replica* chief : builder.Attempts({Role::kChief, 0})) {
    if (chief->phase == ReplicaPhase::kSucceeded && chief->counts) return &*chief->counts;
  }
  return nullptr;
}

}  // namespace

void DecideSuccess(PlanBuilder& builder) {
  if (!builder.ChiefSucceeded()) return;
  // The built-in chief exits 0 only when the final evaluation is in or overdue and the result is in
  // place; the evaluator is released after that, and how it goes decides nothing any more. Of a
  // program of your own nothing is known: there both have to end well.
  if (!builder.spec().has_training()) {
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), Role::kEvaluator); ++i) {
      if (!builder.FindRecord({Role::kEvaluator, i}).succeeded()) return;
    }
  }
  const FinalCounts* counts = CountsOfChief(builder);
  const std::string mismatch = counts == nullptr ? "" : MismatchOf(*counts);
  if (!mismatch.empty()) {
    builder.Finish(
        JobStatus::Failed, "ResultNotProven",
        "the chief has finished, but " + mismatch + "; see its log, and do not use the result");
    return;
  }
  if (builder.spec().has_training() && counts == nullptr) {
    builder.Finish(JobStatus::Succeeded, kCountsNotKnown,
                   "the chief has finished, but its counts are not known here: before you use the "
                   "result, see in result.json that examples_expected, examples_committed, "
                   "applied_min and applied_max are the same");
    return;
  }
  builder.Finish(JobStatus::Succeeded, "JobSucceeded", "the chief has finished");
}

}  // namespace pstrain::plan
