#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// What the training container of one attempt is to be.
struct TrainingContainer {
  const PSTrainingJob* job = nullptr;
  plan::ReplicaId id;
  /// Where it stands in the role's template, for messages.
  std::string path = "template.spec.containers[0]";
  std::int32_t attempt = 0;
  /// The job's ConfigMap, and the form of TF_CONFIG that it is for.
  std::string config_map;
  bool sparse_tf_config = false;
  std::chrono::seconds grace{30};
  /// It has the volume of identity_volume.h.
  bool identified = false;
  /// For a container that names no image.
  std::string image;
  std::string image_pull_policy;
};

/// Turns the template's container into the training container: name and image if it has none, the
/// agent before its command, our environment before its own, ports, probes of the agent unless it
/// has its own, and the container's part of "restricted" Pod Security. A container without a
/// command runs the image's entrypoint, which must be the agent, or with spec.training the agent
/// with the built-in runtime. INVALID_ARGUMENT names the field that cannot be used. Changes only
/// `container`; any thread.
Status CompleteContainer(const TrainingContainer& training, Json& container);

}  // namespace pstrain::job
