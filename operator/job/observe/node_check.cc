#include "operator/job/observe/node_check.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "base/log.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/kube/json_fields.h"

namespace pstrain::job {
namespace {

constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";
/// A kubelet may need a little longer than the grace period.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::seconds kPeriod{30};

/// When it is time to look at the pod's node; nothing while nobody has deleted the pod.
std::optional<plan::Time> OverdueAt(const PodView& pod) {
  if (!pod.deleted || pod.node.empty() || ToReplica(pod).Gone()) return std::nullopt;
  return *pod.deleted + kPatience;
}

bool IsOutOfService(const Json& node) {
  const Json* taints = kube::FindPath(node, {"spec", "taints"});
  if (taints == nullptr) return false;
  return std::ranges::any_of(taints->items(), [](const Json& taint) {
    return kube::TextOrEmpty(taint, "key") == kOutOfService;
  });
}

bool IsLost(kube::ApiClient& client, const std::string& name, const std::stop_token& stop) {
  const auto node = client.Get(kube::NodeResource(), {.name_space = {}, .name = name}, stop);
  const bool absent = node.status().code() == StatusCode::kNotFound;
  if (!node.ok() && !absent) {
    LogWarning("nodes", "pods do not go, and their node cannot be read",
               {{"node", name}, {"error", node.status()}});
    return false;
  }
  const bool lost = absent || IsOutOfService(*node);
  LogInfo("nodes", lost ? "pods are lost with their node" : "waiting for pods of a node to go",
          {{"node", name}});
  return lost;
}

}  // namespace

void CheckNodes(kube::ApiClient& client, const KnownPods& pods, plan::Time now,
                const std::stop_token& stop, NodeChecks& checks) {
  std::set<std::string> overdue;
  for (const auto& [uid, pod] : pods.by_uid) {
    const auto at = OverdueAt(*pod.view);
    if (at && *at <= now) overdue.insert(pod.view->node);
  }
  std::erase_if(checks, [&overdue](const auto& entry) { return !overdue.contains(entry.first); });
  for (const std::string& node : overdue) {
    const auto [check, added] = checks.try_emplace(node);
    if (!added && now < check->second.next_check) continue;
    check->second = {.lost = IsLost(client, node, stop), .next_check = now + kPeriod};
  }
}

std::optional<plan::Time> NextNodeCheck(const KnownPods& pods, plan::Time now,
                                        const NodeChecks& checks) {
  std::optional<plan::Time> next;
  for (const auto& [uid, pod] : pods.by_uid) {
    std::optional<plan::Time> at = OverdueAt(*pod.view);
    if (!at) continue;
    const auto check = checks.find(pod.view->node);
    if (*at <= now) at = check == checks.end() ? now : check->second.next_check;
    next = next ? std::min(*next, *at) : *at;
  }
  return next;
}

}  // namespace pstrain::job
