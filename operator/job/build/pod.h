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

/// The Pod of one attempt: the template of its role, with what makes a replica of it.
///
///   always ours    name, owner, our labels, host name, subdomain, restartPolicy Never; in the
///                  training container the agent before the program, our environment (TF_CONFIG by
///                  reference to the ConfigMap `config`), ports and volumes; what ps_count.h adds
///                  to a chief, and identity_volume.h to replicas that are to know each other
///   a default      the training container as that of `kubectl logs`; enableServiceLinks false, no
///                  service account token, and what the "restricted" Pod Security Standard asks
///                  for: the template may say otherwise
///
/// proto/template/template_checks.h refuses a template that sets what is ours. The training
/// container is the first one, or the one that the template's annotation names; the pod has that
/// annotation in any case. INVALID_ARGUMENT names the field of a template that cannot be used.
/// Pure; any thread.
Result<Json> BuildPod(const PSTrainingJob& job, const plan::ReplicaId& id, std::int32_t attempt,
                      const JobConfig& config, const PodBuilderOptions& options);

}  // namespace pstrain::job
