#include "operator/reconcile/children.h"

#include <string_view>

#include "operator/kube/object_meta.h"
#include "operator/reconcile/names.h"
#include "operator/reconcile/template_json.h"
#include "proto/contract/tf_config.h"
#include "proto/job/job_manifest.h"

namespace pstrain::reconcile {
namespace {

/// The text that stands for $(PSTRAIN_CLUSTER) in the pods' TF_CONFIG.
std::string ClusterText(const PSTrainingJob& job) {
  const ClusterAddresses cluster = KubernetesCluster(job);
  return UsesSparseTfConfig(job, cluster) ? WriteSparseClusterInner(cluster)
                                          : WriteClusterJson(cluster);
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

Json BuildService(const PSTrainingJob& job) {
  Json selector = Json::Object();
  selector.Set(kJobNameLabel, Text(job.metadata().name()));
  Json port = Json::Object();
  port.Set("name", Text("training"));
  port.Set("port", Json::Int(kTrainingPort));
  port.Set("protocol", Text("TCP"));
  Json ports = Json::Array();
  ports.Append(std::move(port));
  Json spec = Json::Object();
  spec.Set("clusterIP", Text("None"));
  spec.Set("publishNotReadyAddresses", Json::Bool(true));
  spec.Set("selector", std::move(selector));
  spec.Set("ports", std::move(ports));
  Json service = Json::Object();
  service.Set("apiVersion", Text("v1"));
  service.Set("kind", Text("Service"));
  service.Set("metadata", ChildMetadata(job, job.metadata().name()));
  service.Set("spec", std::move(spec));
  return service;
}

Json BuildConfigMap(const PSTrainingJob& job) {
  const std::string job_text = JobText(job);
  const std::string cluster = ClusterText(job);
  Json data = Json::Object();
  data.Set(kJobKey, Text(job_text));
  data.Set(kClusterKey, Text(cluster));
  Json config_map = Json::Object();
  config_map.Set("apiVersion", Text("v1"));
  config_map.Set("kind", Text("ConfigMap"));
  config_map.Set("metadata",
                 ChildMetadata(job, ConfigMapName(job.metadata().name(), job_text + cluster)));
  config_map.Set("immutable", Json::Bool(true));
  config_map.Set("data", std::move(data));
  return config_map;
}

}  // namespace pstrain::reconcile
