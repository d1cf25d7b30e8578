#include "operator/job/build/service.h"

#include "operator/job/build/owned_objects.h"
#include "operator/job/build/template_merge.h"
#include "operator/job/well_known.h"
#include "proto/contract/reserved_names.h"

namespace pstrain::job {

Json BuildService(const PSTrainingJob& job) {
  Json selector = Json::Object();
  selector.Set(kJobNameLabel, Text(job.metadata().name()));
  Json port = Json::Object();
  port.Set("name", Text(kNamedTrainingPort.name));
  port.Set("port", Json::Int(kNamedTrainingPort.number));
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
  service.Set("metadata", OwnedObjectMetadata(job, job.metadata().name()));
  service.Set("spec", std::move(spec));
  return service;
}

}  // namespace pstrain::job
