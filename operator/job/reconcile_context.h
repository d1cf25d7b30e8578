#pragma once

#include <stop_token>
#include <vector>

#include "operator/job/job_state.h"
#include "operator/job/observe/job_view.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// What one reconcile of one job works on. Lives for that call; used by its thread.
struct ReconcileContext {
  const PSTrainingJob& job;
  /// The job's pods as the cache shows them.
  const std::vector<PodStore::Object>& pods;
  JobState& state;
  plan::Time now;
  const std::stop_token& stop;
};

}  // namespace pstrain::job
