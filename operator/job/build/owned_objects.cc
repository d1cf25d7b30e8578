#include "operator/job/build/owned_objects.h"

#include "operator/job/build/template_merge.h"
#include "operator/job/well_known.h"
#include "operator/kube/object_meta.h"

namespace pstrain::job {

Json OwnerReferences(const PSTrainingJob& job) {
  Json owners = Json::Array();
  owners.Append(kube::ControllerReference({.api_version = std::string(kApiVersion),
                                           .kind = std::string(kKind),
                                           .name = job.metadata().name(),
                                           .uid = job.metadata().uid(),
                                           .controller = true}));
  return owners;
}

Json ChildMetadata(const PSTrainingJob& job, const std::string& name) {
  Json labels = Json::Object();
  labels.Set(kJobNameLabel, Text(job.metadata().name()));
  labels.Set(kManagedByLabel, Text(kManagedBy));
  Json metadata = Json::Object();
  metadata.Set("name", Text(name));
  metadata.Set("namespace", Text(job.metadata().namespace_()));
  metadata.Set("labels", std::move(labels));
  metadata.Set("ownerReferences", OwnerReferences(job));
  return metadata;
}

}  // namespace pstrain::job
