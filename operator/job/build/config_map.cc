#include "operator/job/build/config_map.h"

#include <string_view>
#include <utility>

#include "operator/job/build/object_names.h"
#include "operator/job/build/owned_objects.h"
#include "operator/job/build/template_merge.h"
#include "proto/contract/tf_config.h"
#include "proto/job/job_manifest.h"

namespace pstrain::job {
namespace {

/// The text that stands for $(PSTRAIN_CLUSTER) in the pods' TF_CONFIG.
std::string ClusterText(const ClusterAddresses& cluster, bool sparse) {
  return sparse ? WriteSparseClusterInner(cluster) : WriteClusterJson(cluster);
}

std::string JobText(PSTrainingJob job) {
  job.clear_status();
  ObjectMeta metadata;
  metadata.set_name(job.metadata().name());
  metadata.set_namespace_(job.metadata().namespace_());
  *job.mutable_metadata() = std::move(metadata);
  job.mutable_spec()->mutable_run_policy()->set_suspend(false);
  ReplicaSpecs& specs = *job.mutable_spec()->mutable_replica_specs();
  for (ReplicaSpec* spec : {specs.mutable_chief(), specs.mutable_ps(), specs.mutable_worker()}) {
    spec->clear_template_();
  }
  if (specs.has_evaluator()) specs.mutable_evaluator()->clear_template_();
  return WriteJobManifest(job);
}

}  // namespace

JobConfig BuildJobConfig(const PSTrainingJob& job) {
  const ClusterAddresses addresses = KubernetesCluster(job);
  const bool sparse = UsesSparseTfConfig(job, addresses);
  const std::string job_text = JobText(job);
  const std::string cluster = ClusterText(addresses, sparse);
  std::string name = HashedName(job.metadata().name(), job_text + cluster);
  Json data = Json::Object();
  data.Set(kJobKey, Text(job_text));
  data.Set(kClusterKey, Text(cluster));
  Json config_map = Json::Object();
  config_map.Set("apiVersion", Text("v1"));
  config_map.Set("kind", Text("ConfigMap"));
  config_map.Set("metadata", OwnedObjectMetadata(job, name));
  config_map.Set("immutable", Json::Bool(true));
  config_map.Set("data", std::move(data));
  return {.object = std::move(config_map), .name = std::move(name), .sparse_tf_config = sparse};
}

}  // namespace pstrain::job
