#pragma once

#include <string>
#include <string_view>

#include "proto/contract/roles.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The role's specification, or nullptr when the job has none. Pure; any thread.
const ReplicaSpec* FindReplicaSpec(const JobSpec& spec, Role role);

/// Replicas that the specification asks for in a role; 0 when the role is absent.
int DesiredReplicas(const JobSpec& spec, Role role);

/// Whether pstrain's runtime plays the roles: the built-in program's, or that of a program which
/// uses libpstrain. Else the replicas run a program that pstrain knows nothing of. What holds of a
/// runtime holds of both: a chief that exits 0 means the end, an attempt may come while the one
/// before is still there, replicas show each other tokens. Pure; any thread.
inline bool UsesRuntime(const JobSpec& spec) { return spec.has_training() || spec.has_program(); }

/// The kubelet says this condition of each pod, whatever becomes of it: no rule of failurePolicy
/// may ask for it. Pure; any thread.
constexpr bool IsConditionOfEveryPod(std::string_view type) {
  return type == "Initialized" || type == "Ready" || type == "ContainersReady" ||
         type == "PodScheduled" || type == "PodReadyToStartContainers";
}

/// Where such a job keeps its run, and when it takes checkpoints; of another job nothing. Pure; any
/// thread.
inline const Checkpoint& CheckpointOf(const JobSpec& spec) {
  return spec.has_program() ? spec.program().checkpoint() : spec.training().checkpoint();
}
/// The path of a field of it, below "spec.": CheckpointField(spec, "directory").
inline std::string CheckpointField(const JobSpec& spec, std::string_view field) {
  return (spec.has_program() ? "program.checkpoint." : "training.checkpoint.") + std::string(field);
}

}  // namespace pstrain
