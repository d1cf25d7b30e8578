#include <string>
#include <string_view>
#include <utility>

#include "operator/plan/policies.h"
#include "proto/contract/run_files.h"

namespace pstrain::plan {
namespace {

/// What the chief that exited 0 has left behind; null when it is not known.
const FinalCounts* CountsOfChief(const PlanBuilder& builder) {
  for (const Replica* chief : builder.Attempts({Role::kChief, 0})) {
    if (chief->phase == ReplicaPhase::kSucceeded && chief->counts) return &*chief->counts;
  }
  return nullptr;
}

bool AwaitsEvaluator(const PlanBuilder& builder) {
  if (StartsAlways(builder.spec(), Role::kEvaluator)) return false;
  for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), Role::kEvaluator); ++i) {
    const ReplicaRestarts record = builder.FindRecord({Role::kEvaluator, i});
    if (!record.succeeded() && !record.given_up()) return true;
  }
  return false;
}

/// What is wrong with the end of a chief of pstrain's runtime that exited 0: its word alone proves
/// nothing. Empty where its counts do, and where the executor looks at the result itself.
std::string WhyNotProven(const PlanBuilder& builder) {
  constexpr const char* kHasFinished = "the chief has finished, but ";
  if (const FinalCounts* counts = CountsOfChief(builder)) {
    const std::string mismatch = MismatchOf(*counts);
    if (mismatch.empty()) return {};
    return kHasFinished + mismatch + "; see its log, and do not use the result";
  }
  if (builder.snapshot().executor_checks_result) return {};
  return std::string(kHasFinished) +
         "its counts are not known here; use the result only if examples_expected, "
         "examples_committed, applied_min and applied_max in result.json are equal";
}

/// Whose exit 0 it is, for people.
std::string_view WhoHasFinished(const JobSpec& spec) {
  switch (spec.success_policy()) {
    case JobSpec::AllWorkers:
      return "all workers have finished";
    case JobSpec::Worker0:
      return "worker-0 has finished";
    default:
      return "the chief has finished";
  }
}

}  // namespace

void DecideSuccess(PlanBuilder& builder) {
  if (!builder.WorkDone()) return;
  // A chief of pstrain's runtime exits 0 only when the final evaluation is in or overdue and the
  // result is in place; the evaluator is released after that, and how it goes decides nothing any
  // more. Of a foreign program nothing is known: there both have to end well.
  if (!UsesRuntime(builder.spec())) {
    if (AwaitsEvaluator(builder)) return;
  }
  if (UsesRuntime(builder.spec())) {
    if (std::string why_not = WhyNotProven(builder); !why_not.empty()) {
      return builder.Finish(JobStatus::Failed, "ResultNotProven", std::move(why_not));
    }
  }
  const FinalCounts* counts = CountsOfChief(builder);
  if (counts != nullptr && counts->early_stopped) {
    return builder.Finish(JobStatus::Succeeded, kEarlyStopped,
                          "training has ended before its epochs: the metric of "
                          "spec.training.earlyStopping did not get better any more");
  }
  builder.Finish(JobStatus::Succeeded, "JobSucceeded", std::string(WhoHasFinished(builder.spec())));
}

}  // namespace pstrain::plan
