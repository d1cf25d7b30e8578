#include "crds/crd.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "crds/schema_builder.h"
#include "crds/transition_rules.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

constexpr std::string_view kGroup = "pstrain.dev";
constexpr std::string_view kVersion = "v1alpha1";
constexpr std::string_view kPlural = "pstrainingjobs";

Json Text(std::string_view text) { return Json::String(std::string(text)); }

Json Texts(std::initializer_list<std::string_view> texts) {
  Json list = Json::Array();
  for (const std::string_view text : texts) list.Append(Text(text));
  return list;
}

Json Object(std::initializer_list<Json::Member> members) {
  Json object = Json::Object();
  for (const Json::Member& member : members) object.Set(member.first, member.second);
  return object;
}

Json Column(std::string_view name, std::string_view type, std::string_view path,
            std::string_view description, int priority = 0) {
  Json column = Object({{"name", Text(name)},
                        {"type", Text(type)},
                        {"jsonPath", Text(path)},
                        {"description", Text(description)}});
  if (priority > 0) column.Set("priority", Json::Int(priority));
  return column;
}

Json PrinterColumns() {
  Json columns = Json::Array();
  columns.Append(Column("Phase", "string", ".status.phase", "The job in one word"));
  columns.Append(Column("Reason", "string", ".status.reason",
                        "Why it is in that phase, of the condition that matters most"));
  columns.Append(Column("Chief", "string", ".status.replicaStatuses.chief.summary",
                        "Chiefs: ready and desired"));
  columns.Append(Column("PS", "string", ".status.replicaStatuses.ps.summary",
                        "Parameter servers: ready and desired"));
  columns.Append(Column("Workers", "string", ".status.replicaStatuses.worker.summary",
                        "Workers: ready and desired"));
  columns.Append(Column("Step", "integer", ".status.training.step", "Committed batches"));
  columns.Append(Column("Progress", "string", ".status.training.progress",
                        "Committed examples of those that the job has"));
  columns.Append(Column("Rate", "string", ".status.training.rate", "Examples per second"));
  columns.Append(Column("Restarts", "integer", ".status.restarts.failures",
                        "Crashes that counted against backoffLimit"));
  columns.Append(Column("Loss", "number", ".status.training.loss", "Of the last batches",
                        /*priority=*/1));
  columns.Append(Column("Checkpoint", "date", ".status.training.lastCheckpointTime",
                        "Since the newest checkpoint", /*priority=*/1));
  columns.Append(Column("Disruptions", "integer", ".status.restarts.disruptions",
                        "Restarts after disruptions, which do not count against backoffLimit",
                        /*priority=*/1));
  columns.Append(Column("Age", "date", ".metadata.creationTimestamp", "Since the job was created"));
  return columns;
}

Json Subresources() {
  return Object(
      {{"status", Json::Object()},
       {"scale", Object({{"specReplicasPath", Text(".spec.replicaSpecs.worker.replicas")},
                         {"statusReplicasPath", Text(".status.replicaStatuses.worker.active")},
                         {"labelSelectorPath", Text(".status.selector")}})}});
}

const pb::FieldDescriptor& JobField(std::string_view name) {
  return *PSTrainingJob::descriptor()->FindFieldByName(std::string(name));
}

/// Of ObjectMeta a CRD may restrict the name alone; the apiserver checks the rest itself.
Json MetadataSchema(const Descriptions& descriptions) {
  const auto& name = *ObjectMeta::descriptor()->FindFieldByName("name");
  return Object({{"type", Text("object")},
                 {"properties", Object({{"name", BuildFieldSchema(name, descriptions)}})}});
}

Json RootSchema(const Descriptions& descriptions) {
  Json properties = Object({{"apiVersion", Object({{"type", Text("string")}})},
                            {"kind", Object({{"type", Text("string")}})},
                            {"metadata", MetadataSchema(descriptions)},
                            {"spec", BuildFieldSchema(JobField("spec"), descriptions)},
                            {"status", BuildFieldSchema(JobField("status"), descriptions)}});
  return Object(
      {{"description", Json::String(descriptions.OfMessage(*PSTrainingJob::descriptor()))},
       {"type", Text("object")},
       {"required", Texts({"spec"})},
       {"properties", std::move(properties)},
       {"x-kubernetes-validations", TransitionRules()}});
}

}  // namespace

Json BuildCrd(const Descriptions& descriptions) {
  Json version = Object({{"name", Text(kVersion)},
                         {"served", Json::Bool(true)},
                         {"storage", Json::Bool(true)},
                         {"additionalPrinterColumns", PrinterColumns()},
                         {"subresources", Subresources()},
                         {"schema", Object({{"openAPIV3Schema", RootSchema(descriptions)}})}});
  Json versions = Json::Array();
  versions.Append(std::move(version));
  Json names = Object({{"kind", Text("PSTrainingJob")},
                       {"listKind", Text("PSTrainingJobList")},
                       {"plural", Text(kPlural)},
                       {"singular", Text("pstrainingjob")},
                       {"shortNames", Texts({"pstj"})},
                       {"categories", Texts({"all", "training"})}});
  return Object(
      {{"apiVersion", Text("apiextensions.k8s.io/v1")},
       {"kind", Text("CustomResourceDefinition")},
       {"metadata", Object({{"name", Text(std::string(kPlural) + "." + std::string(kGroup))}})},
       {"spec", Object({{"group", Text(kGroup)},
                        {"names", std::move(names)},
                        {"scope", Text("Namespaced")},
                        {"versions", std::move(versions)}})}});
}

}  // namespace pstrain
