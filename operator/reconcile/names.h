#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/plan/snapshot.h"

namespace pstrain::reconcile {

/// Labels and the annotation by which the operator knows its objects again. They are part of the
/// API: dashboards, PodMonitors and NetworkPolicies select by them.
inline constexpr std::string_view kJobNameLabel = "pstrain.dev/job-name";
inline constexpr std::string_view kReplicaTypeLabel = "pstrain.dev/replica-type";
inline constexpr std::string_view kReplicaIndexLabel = "pstrain.dev/replica-index";
inline constexpr std::string_view kAttemptLabel = "pstrain.dev/attempt";
inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedBy = "pstrain-operator";

inline constexpr std::string_view kApiVersion = "pstrain.dev/v1alpha1";
inline constexpr std::string_view kKind = "PSTrainingJob";

/// "<job>-<role>-<index>" for attempt 0, "...-<attempt>" after.
std::string PodName(std::string_view job, const plan::ReplicaId& id, std::int32_t attempt);

/// "<job>-<hash of content>"; the hash has 13 characters of [0-9a-v].
std::string ConfigMapName(std::string_view job, std::string_view content);

/// Selects the workers of a job: status.selector of the scale subresource.
std::string WorkerSelector(std::string_view job);

}  // namespace pstrain::reconcile
