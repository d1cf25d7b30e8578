#pragma once

#include <string_view>

namespace pstrain::job {

/// The names that the operator writes into its objects and recognizes them by. Labels are part of
/// the API: dashboards, PodMonitors and NetworkPolicies select by them. Constants; any thread.
inline constexpr std::string_view kJobNameLabel = "pstrain.dev/job-name";
inline constexpr std::string_view kReplicaTypeLabel = "pstrain.dev/replica-type";
inline constexpr std::string_view kReplicaIndexLabel = "pstrain.dev/replica-index";
inline constexpr std::string_view kAttemptLabel = "pstrain.dev/attempt";
inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedBy = "pstrain-operator";

/// spec.managedBy of a job that this operator acts on; an absent one says the same.
inline constexpr std::string_view kManager = "pstrain.dev/operator";

inline constexpr std::string_view kApiVersion = "pstrain.dev/v1alpha1";
inline constexpr std::string_view kKind = "PSTrainingJob";

/// Of the chief's pod, of the built-in runtime: the number of ps that the job wants now. The pod
/// sees it as a file.
inline constexpr std::string_view kPsReplicasAnnotation = "pstrain.dev/ps-replicas";

/// Of a job: "off" silences the alerts about it.
inline constexpr std::string_view kAlertsAnnotation = "pstrain.dev/alerts";

/// Which container `kubectl logs` and `kubectl exec` take when they are not told
/// (k8s.io/kubectl/pkg/cmd/util/podcmd, DefaultContainerAnnotationName).
inline constexpr std::string_view kDefaultContainerAnnotation =
    "kubectl.kubernetes.io/default-container";

/// What annotations of ours begin with: the cache keeps no others of a job.
inline constexpr std::string_view kAnnotationPrefix = "pstrain.dev/";
/// Of a job that waits in a queue of Kueue (kueue.sigs.k8s.io, "Run plain workloads").
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

}  // namespace pstrain::job
