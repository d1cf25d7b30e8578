#pragma once

#include <optional>
#include <string>

#include "base/text/json.h"
#include "operator/job/observe/problem/problem.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Type of the condition that is True while replicas do not see one directory as
/// training.checkpoint.directory, or would not on another node.
inline constexpr char kCheckpointNotShared[] = "CheckpointNotShared";

/// What the templates of a job have under training.checkpoint.directory.
struct CheckpointVolume {
  /// What is wrong whatever the server says: no volume, one of each pod's own, a read-only one, or
  /// another than the chief's.
  std::optional<Problem> problem = {};
  /// Else the claim whose access modes decide. Empty: nothing more is to be known, because all
  /// replicas run on one node or the volume is of a kind that names no access modes.
  std::string claim = {};
};

/// Pure; any thread. A job without spec.training has no such directory: neither problem nor claim.
/// Templates that cannot be read are left to who builds pods of them.
CheckpointVolume FindCheckpointVolume(const PSTrainingJob& job);

/// The problem with that claim, a PersistentVolumeClaim as the apiserver gives it: pods of one node
/// alone can write to it. Nothing when it is ReadWriteMany. Pure; any thread.
std::optional<Problem> ProblemOfClaim(const Json& claim);

}  // namespace pstrain::job
