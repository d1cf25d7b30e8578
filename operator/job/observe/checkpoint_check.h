#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "operator/job/observe/problem/problem.h"
#include "operator/kube/api_client.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// What is known of the volume under training.checkpoint.directory.
struct CheckpointCheck {
  /// metadata.generation of the job that was checked; -1: none.
  std::int64_t generation = -1;
  bool known = false;
  std::optional<Problem> problem = {};
  /// When to check again though the job does not change.
  std::optional<plan::Time> next_check = {};
};

/// Finds out whether all replicas see one checkpoint directory, into `check`: once for each
/// generation of the job, and every five minutes while a claim is not as it should be or could not
/// be read. One GET at most. Never fails, so that it stops no job. One thread at a time for one
/// `check`: the reconcile of its job.
void CheckCheckpointVolume(kube::ApiClient& client, const PSTrainingJob& job, plan::Time now,
                           const std::stop_token& stop, CheckpointCheck& check);

}  // namespace pstrain::job
