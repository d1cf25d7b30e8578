#include "operator/kube/object_meta.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "operator/kube/json_fields.h"

namespace pstrain::kube {
namespace {

Status ReadTextMap(const Json& metadata, std::string_view name,
                   std::map<std::string, std::string>& texts) {
  const Json* member = metadata.Find(name);
  if (member == nullptr || member->is_null()) return OkStatus();
  const std::string path = "metadata." + std::string(name);
  if (!member->is_object()) return InvalidArgumentError(path + ": must be an object");
  for (const auto& [key, value] : member->members()) {
    if (value.AsString() == nullptr) {
      return InvalidArgumentError(path + "." + key + ": must be a string");
    }
    texts.emplace(key, *value.AsString());
  }
  return OkStatus();
}

Result<std::vector<OwnerReference>> ReadOwners(const Json& metadata) {
  std::vector<OwnerReference> owners;
  const Json* list = metadata.Find("ownerReferences");
  if (list == nullptr) return owners;
  constexpr std::string_view kPath = "metadata.ownerReferences";
  for (const Json& item : list->items()) {
    OwnerReference owner;
    PSTRAIN_RETURN_IF_ERROR(ReadText(item, kPath, "apiVersion", owner.api_version));
    PSTRAIN_RETURN_IF_ERROR(ReadText(item, kPath, "kind", owner.kind));
    PSTRAIN_RETURN_IF_ERROR(ReadText(item, kPath, "name", owner.name));
    PSTRAIN_RETURN_IF_ERROR(ReadText(item, kPath, "uid", owner.uid));
    PSTRAIN_RETURN_IF_ERROR(ReadFlag(item, kPath, "controller", owner.controller));
    owners.push_back(std::move(owner));
  }
  return owners;
}

// kubectl apply keeps the whole manifest in an annotation: in a cache of thousands of pods what
// others have written would be most of its memory.
void KeepPrefixes(const std::vector<std::string>& prefixes,
                  std::map<std::string, std::string>& annotations) {
  std::erase_if(annotations, [&](const auto& entry) {
    return std::none_of(prefixes.begin(), prefixes.end(),
                        [&](const std::string& prefix) { return entry.first.starts_with(prefix); });
  });
}

Status ReadScalars(const Json& metadata, ObjectMeta& meta) {
  constexpr std::string_view kPath = "metadata";
  PSTRAIN_RETURN_IF_ERROR(ReadText(metadata, kPath, "namespace", meta.key.name_space));
  PSTRAIN_RETURN_IF_ERROR(ReadText(metadata, kPath, "name", meta.key.name));
  PSTRAIN_RETURN_IF_ERROR(ReadText(metadata, kPath, "uid", meta.uid));
  PSTRAIN_RETURN_IF_ERROR(ReadText(metadata, kPath, "resourceVersion", meta.resource_version));
  PSTRAIN_RETURN_IF_ERROR(ReadInteger(metadata, kPath, "generation", meta.generation));
  PSTRAIN_RETURN_IF_ERROR(ReadText(metadata, kPath, "creationTimestamp", meta.creation_timestamp));
  PSTRAIN_RETURN_IF_ERROR(ReadText(metadata, kPath, "deletionTimestamp", meta.deletion_timestamp));
  // Without these an object cannot be told from a later one of the same name, nor a write be made
  // on condition of what is known. What is not in a namespace has none.
  for (const auto& [name, value] :
       {std::pair<const char*, const std::string*>{"name", &meta.key.name},
        {"uid", &meta.uid},
        {"resourceVersion", &meta.resource_version}}) {
    if (value->empty()) return InvalidArgumentError(std::string("metadata.") + name + ": missing");
  }
  return OkStatus();
}

}  // namespace

const OwnerReference* ObjectMeta::Controller() const {
  const auto at = std::find_if(owners.begin(), owners.end(),
                               [](const OwnerReference& owner) { return owner.controller; });
  return at == owners.end() ? nullptr : &*at;
}

Result<ObjectMeta> DecodeObjectMeta(const Json& object,
                                    const std::vector<std::string>& annotation_prefixes) {
  const Json* metadata = object.Find("metadata");
  if (metadata == nullptr || !metadata->is_object()) {
    return InvalidArgumentError("metadata: must be an object");
  }
  ObjectMeta meta;
  PSTRAIN_RETURN_IF_ERROR(ReadScalars(*metadata, meta));
  PSTRAIN_RETURN_IF_ERROR(ReadTextMap(*metadata, "labels", meta.labels));
  PSTRAIN_RETURN_IF_ERROR(ReadTextMap(*metadata, "annotations", meta.annotations));
  KeepPrefixes(annotation_prefixes, meta.annotations);
  PSTRAIN_ASSIGN_OR_RETURN(meta.owners, ReadOwners(*metadata));
  if (const Json* finalizers = metadata->Find("finalizers")) {
    for (const Json& name : finalizers->items()) {
      if (name.AsString() != nullptr) meta.finalizers.push_back(*name.AsString());
    }
  }
  return meta;
}

Json ControllerReference(const OwnerReference& owner) {
  Json reference = Json::Object();
  reference.Set("apiVersion", Json::String(owner.api_version));
  reference.Set("kind", Json::String(owner.kind));
  reference.Set("name", Json::String(owner.name));
  reference.Set("uid", Json::String(owner.uid));
  reference.Set("controller", Json::Bool(true));
  reference.Set("blockOwnerDeletion", Json::Bool(true));
  return reference;
}

}  // namespace pstrain::kube
