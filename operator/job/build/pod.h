#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/job/build/config_map.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

struct PodBuilderOptions {
  /// Image of a training container whose template names none.
  std::string training_image;
  std::string image_pull_policy;  // of that image; empty: Kubernetes' default
  /// Of a job of the built-in runtime: the pod gets tokens and the keys to check others' by.
  bool identified = false;
};

/// The Pod of one attempt: the role's template with what makes it a replica: name, labels, owner,
/// host name, TF_CONFIG by reference to the ConfigMap `config`, the agent before the program,
/// restartPolicy Never, enableServiceLinks false, no service account token, what ps_count.h adds to
/// a chief, identity_volume.h to replicas that are to know each other, and what the "restricted"
/// Pod Security Standard asks for; of these the template may set all but name, owner, host name,
/// subdomain, restartPolicy, our environment and the names of our volumes and ports
/// (proto/template/template_checks.h refuses those). The training container is the first one, or
/// the one that the template's annotation names; the pod has that annotation in any case.
/// INVALID_ARGUMENT names the field of a template that cannot be used. Pure; any thread.
Result<Json> BuildPod(const PSTrainingJob& job, const plan::ReplicaId& id, std::int32_t attempt,
                      const JobConfig& config, const PodBuilderOptions& options);

}  // namespace pstrain::job
