#pragma once

#include <string>

#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Keys of the ConfigMap: the job as the runtime reads it, and the value of PSTRAIN_CLUSTER.
inline constexpr char kJobKey[] = "job.yaml";
inline constexpr char kClusterKey[] = "cluster";

/// What all pods of one specification share; made once for a reconcile, as it grows with the number
/// of replicas.
struct JobConfig {
  Json object;  // the ConfigMap
  std::string name;
  /// The form of TF_CONFIG that its kClusterKey is for.
  bool sparse_tf_config = false;
};

/// The immutable ConfigMap of the job as it is now; metadata.name is `<job>-<hash of content>`.
/// The job in it has no status and of its metadata only name and namespace, so that the content
/// changes with the specification alone. Pure; any thread.
JobConfig BuildJobConfig(const PSTrainingJob& job);

}  // namespace pstrain::job
