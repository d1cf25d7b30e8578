#pragma once

#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The names in the job's templates that Kubernetes does not know (pod_field_names.h), each with
/// the nearest that it knows. Warnings and no errors: the cluster may be newer than the table, and
/// the apiserver has the last word. `tree` gives the lines. REQUIRES: the job was decoded without
/// an error, and its templates are not merged yet. Pure; any thread.
std::vector<ManifestError> UnknownPodFields(const PSTrainingJob& job, const Json& tree);

}  // namespace pstrain
