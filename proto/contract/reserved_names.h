#pragma once

#include <array>
#include <string_view>

#include "proto/contract/task_env.h"
#include "proto/contract/tf_config.h"

namespace pstrain {

/// Names in a replica's pod that are pstrain's own. A template that has one of them is refused: the
/// rules `template-leaves-*` and `*-leave-port-names` of psjob.proto name them too. Constants; any
/// thread.

/// The volume with the job's ConfigMap, mounted at /etc/pstrain.
inline constexpr std::string_view kJobVolume = "pstrain-job";
/// The emptyDir at /tmp of a container that runs the built-in runtime.
inline constexpr std::string_view kScratchVolume = "pstrain-scratch";
/// The downwardAPI volume of the chief's pod with the number of ps.
inline constexpr std::string_view kPsCountVolume = "pstrain-ps-count";
/// The volume with the pod's tokens and the keys that they are checked by.
inline constexpr std::string_view kIdentityVolume = "pstrain-identity";

inline constexpr std::array<std::string_view, 5> kReservedVolumes = {
    kJobVolume, kScratchVolume, kPsCountVolume, kIdentityVolume, kTlsVolume};

/// Container port of the agent's metrics and health.
inline constexpr int kAgentPort = 9464;

struct ReservedPort {
  std::string_view name;
  int number;
};
/// The ports that a training container gets where its template does not list their numbers.
inline constexpr ReservedPort kNamedTrainingPort = {.name = "training", .number = kTrainingPort};
inline constexpr ReservedPort kNamedAgentPort = {.name = "metrics", .number = kAgentPort};
inline constexpr std::array<ReservedPort, 2> kReservedPorts = {kNamedTrainingPort, kNamedAgentPort};

}  // namespace pstrain
