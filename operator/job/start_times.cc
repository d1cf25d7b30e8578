#include "operator/job/start_times.h"

#include <algorithm>

#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {

std::string_view StartStageName(StartStage stage) {
  switch (stage) {
    case StartStage::kReplicasRunning:
      return "replicas_running";
    case StartStage::kFirstStep:
      return "first_step";
  }
  return "";
}

std::vector<StartTimes::Reached> StartTimes::Observe(const JobStatus& status, plan::Time now) {
  std::vector<Reached> reached;
  if (status.phase() == JobStatus::Suspended) suspended_ = true;
  // A resumed job has attempts already, so it is never Pending.
  const auto since = plan::ParseTimestamp(status.start_time());
  if (since && (suspended_ || status.phase() == JobStatus::Pending)) {
    suspended_ = false;
    if (!start_) start_ = {.since = *since, .step = status.training().step()};
  }
  if (!start_ || status.phase() == JobStatus::Pending) return reached;
  if (status.phase() != JobStatus::Running) {
    start_.reset();
    return reached;
  }
  const auto took = std::max(now - start_->since, std::chrono::milliseconds(0));
  const Condition* running = plan::FindCondition(status, "Running");
  if (!start_->running && running != nullptr && running->status() == "True") {
    start_->running = true;
    reached.push_back({.stage = StartStage::kReplicasRunning, .took = took});
  }
  if (status.training().step() > start_->step) {
    reached.push_back({.stage = StartStage::kFirstStep, .took = took});
    start_.reset();
  }
  return reached;
}

}  // namespace pstrain::job
