#pragma once

#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// The NetworkPolicy (networking.k8s.io/v1) that lets in what the pods of a job need and nothing
/// else: the job's own pods, on the training port, or on any port where the job runs a program of
/// its own, whose ports nobody knows; and `metrics_peers`, a list of NetworkPolicyPeer, on the port
/// of the agents. Probes come from the pod's node, which every policy lets in. The name has a hash
/// of the rest, so another policy is another object. Pure; any thread.
Json BuildNetworkPolicy(const PSTrainingJob& job, const Json& metrics_peers);

}  // namespace pstrain::job
