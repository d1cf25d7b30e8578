#pragma once

#include "proto/contract/roles.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The role's specification, or nullptr when the job has none. Pure; any thread.
const ReplicaSpec* FindReplicaSpec(const JobSpec& spec, Role role);

/// Replicas that the specification asks for in a role; 0 when the role is absent.
int DesiredReplicas(const JobSpec& spec, Role role);

}  // namespace pstrain
