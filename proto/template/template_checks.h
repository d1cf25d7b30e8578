#pragma once

#include <cstdint>
#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The checks of proto/job/manifest_checks.h that are about pod templates: what pstrain sets itself
/// there, and what it has to be able to read. Each adds to `errors`. REQUIRES: the job was decoded
/// without an error. Pure; any thread.

/// Most that a template's terminationGracePeriodSeconds may be: a day.
inline constexpr std::int64_t kLongestGraceSeconds = 86400;

/// No container sets TF_CONFIG, or what that is made of.
void TemplatesLeaveTfConfig(const PSTrainingJob& job, const Json& tree,
                            std::vector<ManifestError>& errors);

/// A grace period is a number of seconds that can be counted with.
void GracePeriodsCount(const PSTrainingJob& job, const Json& tree,
                       std::vector<ManifestError>& errors);

/// What would be overwritten (restart policy, host name) or cannot be shared (names of volumes and
/// ports) is not there; in the words of the rules of ReplicaSpec that ask for this check, which
/// are the apiserver's.
void TemplatesLeaveOurs(const PSTrainingJob& job, const Json& tree,
                        std::vector<ManifestError>& errors);

}  // namespace pstrain
