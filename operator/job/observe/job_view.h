#pragma once

#include "base/status.h"
#include "base/text/json.h"
#include "operator/controller/store.h"
#include "operator/job/observe/pod_view.h"
#include "operator/kube/resource.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// How the operator reads jobs, and what its caches have. The functions are pure: any thread; a
/// Store locks for itself.

/// pstrain.dev/v1alpha1 pstrainingjobs.
const kube::Resource& JobResource();

/// A PSTrainingJob as the apiserver gives it. INVALID_ARGUMENT lists every field that cannot be
/// used, "path: reason" each: a CR may be older than the CRD that would refuse it now.
Result<PSTrainingJob> DecodeJob(const Json& object);

/// Somebody else acts on the job: spec.managedBy names neither nobody nor this operator.
bool BelongsToAnother(const kube::Cached<PSTrainingJob>& job);

/// The status of such an object, also when the rest of it cannot be used.
JobStatus DecodeJobStatus(const Json& object);

/// Services and ConfigMaps are known by their metadata alone.
struct MetadataOnly {};

using JobStore = kube::Store<PSTrainingJob>;
using PodStore = kube::Store<PodView>;
using OwnedObjectStore = kube::Store<MetadataOnly>;

}  // namespace pstrain::job
