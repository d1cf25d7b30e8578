#pragma once

#include <chrono>
#include <string>

#include "proto/job/fixed_fields.h"
#include "proto/job/psjob.pb.h"
#include "runtime/cluster/job_fields.h"

namespace pstrain {

/// What every role needs of its job, whatever the job trains. Made from spec.training by
/// runtime/model/training/training_jobs.h; a value, any thread may read it.
struct JobSettings {
  /// The job: its strategy and replicas, and what is compared and kept of it
  /// (proto/job/fixed_fields.h). Nobody reads `training` in it.
  JobSpec spec;
  /// Checkpoints, index and results of a run lie in <checkpoint_directory>/<run id>.
  std::string checkpoint_directory;
  /// How long a replica waits for another one, or for a disk, that does not answer.
  std::chrono::seconds peer_timeout{0};
  JobFields fields = {};
  /// Of a program of a user's own: a digest of each part that has to be the same in all roles, by
  /// what to call the part in a message.
  FixedDigests program = {};
};

/// What a replica shows when it registers, and the chief compares: of the job and of the program.
/// Pure; any thread.
inline FixedDigests DigestsOf(const JobSettings& settings) {
  FixedDigests digests = DigestsOf(settings.spec);
  digests.insert(settings.program.begin(), settings.program.end());
  return digests;
}

}  // namespace pstrain
