#include "operator/job/build/ps_count.h"

#include <utility>

#include "operator/job/build/template_merge.h"
#include "operator/job/well_known.h"
#include "proto/contract/replica_specs.h"

namespace pstrain::job {

bool LearnsPsCount(const JobSpec& spec, plan::Role role) {
  return role == plan::Role::kChief && UsesRuntime(spec);
}

std::string PsCountText(const JobSpec& spec) {
  return std::to_string(plan::DesiredReplicas(spec, plan::Role::kPs));
}

Json PsCountAnnotation(const JobSpec& spec) {
  Json annotations = Json::Object();
  annotations.Set(kPsReplicasAnnotation, Text(PsCountText(spec)));
  return annotations;
}

Json PsCountVolume() {
  Json field = Json::Object();
  field.Set("fieldPath",
            Text("metadata.annotations['" + std::string(kPsReplicasAnnotation) + "']"));
  Json item = Json::Object();
  item.Set("path", Text(kPsCountFile.substr(kPsCountDirectory.size() + 1)));
  item.Set("fieldRef", std::move(field));
  Json items = Json::Array();
  items.Append(std::move(item));
  Json source = Json::Object();
  source.Set("items", std::move(items));
  return source;
}

}  // namespace pstrain::job
