#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/resource.h"

namespace pstrain::kube {

/// An entry of metadata.ownerReferences. A value; the functions here are pure: any thread.
struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

/// The part of metadata that we use. managedFields and annotations of others are left behind.
struct ObjectMeta {
  ObjectKey key;
  std::string uid;
  std::string resource_version;  // opaque
  std::int64_t generation = 0;
  std::string creation_timestamp;  // RFC 3339, as sent
  std::string deletion_timestamp;  // empty: not being deleted
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<OwnerReference> owners;
  std::vector<std::string> finalizers;

  bool deleting() const { return !deletion_timestamp.empty(); }
  /// The owner that is its controller, or nullptr.
  const OwnerReference* Controller() const;
};

/// metadata of an object. Only annotations whose name begins with one of `annotation_prefixes` are
/// kept. INVALID_ARGUMENT names the field of the wrong type; name, uid and resourceVersion must be
/// there.
Result<ObjectMeta> DecodeObjectMeta(const Json& object,
                                    const std::vector<std::string>& annotation_prefixes = {});

/// An ownerReferences entry that makes `owner` the controller and lets foreground deletion wait.
Json ControllerReference(const OwnerReference& owner);

}  // namespace pstrain::kube
