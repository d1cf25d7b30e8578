#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/job/observe/replicas.h"
#include "operator/kube/api_client.h"
#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// What is known of one node whose pods should have gone.
struct NodeCheck {
  /// The Node is deleted, or somebody has given it the taint node.kubernetes.io/out-of-service:
  /// nothing runs there any more, and no kubelet will say so.
  bool lost = false;
  /// When to look again.
  plan::Time next_check;
};
using NodeChecks = std::map<std::string, NodeCheck>;

/// Looks at the Nodes of pods that should have gone 10 s ago, each at most every 30 s, and forgets
/// the others. Never fails: a node that cannot be read counts as one that may still run its pods.
/// Waits for the apiserver. One thread at a time for one `checks`: the reconcile of its job.
/// Source: KEP-2268 (Non-graceful node shutdown).
void CheckNodes(kube::ApiClient& client, const KnownPods& pods, plan::Time now,
                const std::stop_token& stop, NodeChecks& checks);

/// When CheckNodes has something to do though no pod changes.
std::optional<plan::Time> NextNodeCheck(const KnownPods& pods, plan::Time now,
                                        const NodeChecks& checks);

}  // namespace pstrain::job
