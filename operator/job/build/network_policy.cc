#include "operator/job/build/network_policy.h"

#include <utility>

#include "operator/job/build/object_names.h"
#include "operator/job/build/owned_objects.h"
#include "operator/job/build/template_merge.h"
#include "operator/job/well_known.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/reserved_names.h"

namespace pstrain::job {
namespace {

Json ListOf(Json item) {
  Json list = Json::Array();
  list.Append(std::move(item));
  return list;
}

Json PodsOf(const PSTrainingJob& job) {
  Json labels = Json::Object();
  labels.Set(kJobNameLabel, Text(job.metadata().name()));
  Json selector = Json::Object();
  selector.Set("matchLabels", std::move(labels));
  return selector;
}

Json TcpPort(int number) {
  Json port = Json::Object();
  port.Set("port", Json::Int(number));
  port.Set("protocol", Text("TCP"));
  return ListOf(std::move(port));
}

}  // namespace

Json BuildNetworkPolicy(const PSTrainingJob& job, const Json& metrics_peers) {
  Json own = Json::Object();
  own.Set("podSelector", PodsOf(job));
  Json among_themselves = Json::Object();
  among_themselves.Set("from", ListOf(std::move(own)));
  if (UsesRuntime(job.spec())) among_themselves.Set("ports", TcpPort(kTrainingPort));
  Json ingress = ListOf(std::move(among_themselves));
  // An empty `from` would let everybody in.
  if (metrics_peers.size() > 0) {
    Json metrics = Json::Object();
    metrics.Set("from", metrics_peers);
    metrics.Set("ports", TcpPort(kAgentPort));
    ingress.Append(std::move(metrics));
  }
  Json spec = Json::Object();
  spec.Set("podSelector", PodsOf(job));
  spec.Set("policyTypes", ListOf(Text("Ingress")));
  spec.Set("ingress", std::move(ingress));
  Json policy = Json::Object();
  policy.Set("apiVersion", Text("networking.k8s.io/v1"));
  policy.Set("kind", Text("NetworkPolicy"));
  policy.Set("metadata",
             OwnedObjectMetadata(job, HashedName(job.metadata().name(), WriteJson(spec))));
  policy.Set("spec", std::move(spec));
  return policy;
}

}  // namespace pstrain::job
