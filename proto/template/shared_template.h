#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// spec.template, which all roles share, and the template of each role. Once a manifest is read
/// there are only the latter, each whole. Pure functions; any thread that may touch the job.

/// A template as a manifest has it.
struct PodTemplateText {
  /// E.g. "spec.replicaSpecs.ps.template".
  std::string path;
  /// Of the job: lives as long as it.
  const std::string* json = nullptr;
};
/// Those that are there: the shared one first, then those of the roles.
std::vector<PodTemplateText> TemplatesOf(const JobSpec& spec);

/// A check of proto/job/manifest_checks.h: what of a role's template cannot be merged with the
/// shared one, at its place in the role's. REQUIRES: the job was decoded without an error.
void TemplatesMerge(const PSTrainingJob& job, const Json& tree, std::vector<ManifestError>& errors);

/// Merges the shared template into that of each role, and takes it away. The role's words have the
/// last one; psjob.proto says how. REQUIRES: TemplatesMerge finds nothing.
void MergeSharedTemplate(JobSpec& spec);

}  // namespace pstrain
