#include "operator/job/observe/job_view.h"

#include <string>

#include "operator/job/well_known.h"
#include "proto/job/job_manifest.h"

namespace pstrain::job {

const kube::Resource& JobResource() {
  static const kube::Resource resource{.group = "pstrain.dev",
                                       .version = "v1alpha1",
                                       .plural = "pstrainingjobs",
                                       .kind = std::string(kKind)};
  return resource;
}

Result<PSTrainingJob> DecodeJob(const Json& object) {
  ManifestReading reading = ReadJobManifestTree(object);
  if (reading.ok()) return std::move(reading.job);
  std::string text;
  for (const ManifestError& error : reading.errors) {
    if (!text.empty()) text += "; ";
    text += error.path.empty() ? error.message : error.path + ": " + error.message;
  }
  return InvalidArgumentError(std::move(text));
}

bool BelongsToAnother(const kube::Cached<PSTrainingJob>& job) {
  if (!job.object.ok()) return false;
  const std::string& manager = job.object->spec().managed_by();
  return !manager.empty() && manager != kManager;
}

JobStatus DecodeJobStatus(const Json& object) { return ReadJobManifestTree(object).job.status(); }

}  // namespace pstrain::job
