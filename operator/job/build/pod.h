#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Name of the emptyDir at /tmp of a container that runs the built-in runtime.
inline constexpr std::string_view kScratchVolume = "pstrain-scratch";
/// Container port of the agent's metrics and health.
inline constexpr std::uint16_t kAgentPort = 9464;

struct PodBuilderOptions {
  /// Image of a training container whose template names none.
  std::string training_image;
  std::string image_pull_policy;  // of that image; empty: Kubernetes' default
  /// Of a job of the built-in runtime: the pod gets tokens and the keys to check others' by.
  bool identified = false;
};

/// The Pod of one attempt: the role's template with what makes it a replica: name, labels, owner,
/// host name, TF_CONFIG by reference to `config_map`, the agent before the program, restartPolicy
/// Never, enableServiceLinks false, no service account token, what ps_count.h adds to a chief,
/// identity_volume.h to replicas that are to know each other, and what the "restricted" Pod
/// Security Standard asks for; of these the template may set all but name, owner, host name,
/// subdomain, restartPolicy and our environment. The training container is the first one, or the
/// one that the template's annotation names; the pod has that annotation in any case.
/// INVALID_ARGUMENT names the field of a template that cannot be used. Pure; any thread.
Result<Json> BuildPod(const PSTrainingJob& job, const plan::ReplicaId& id, std::int32_t attempt,
                      const std::string& config_map, const PodBuilderOptions& options);

}  // namespace pstrain::job
