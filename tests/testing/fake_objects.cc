#include "tests/testing/fake_objects.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "operator/kube/json_fields.h"

namespace pstrain::testing {

using kube::TextOrEmpty;

Json& Metadata(Json& object) {
  if (object.Find("metadata") == nullptr) object.Set("metadata", Json::Object());
  return *object.FindMutable("metadata");
}

std::string MetaText(const Json& object, std::string_view name) {
  const Json* metadata = object.Find("metadata");
  return metadata == nullptr ? "" : TextOrEmpty(*metadata, name);
}

bool Selected(const FakeTarget& target, const Json& object) {
  if (!target.name_space.empty() && MetaText(object, "namespace") != target.name_space) {
    return false;
  }
  const auto selector = target.query.find("labelSelector");
  if (selector == target.query.end()) return true;
  const Json* labels = kube::FindPath(object, {"metadata", "labels"});
  std::string_view rest = selector->second;
  while (!rest.empty()) {
    const std::string_view term = rest.substr(0, rest.find(','));
    const std::size_t equals = term.find('=');
    const std::string value = labels == nullptr ? "" : TextOrEmpty(*labels, term.substr(0, equals));
    if (value != term.substr(equals + 1)) return false;
    rest.remove_prefix(std::min(rest.size(), term.size() + 1));
  }
  return true;
}

void MergePatch(Json& target, const Json& patch) {
  if (!target.is_object()) target = Json::Object();
  for (const auto& [name, value] : patch.members()) {
    auto& members = target.mutable_members();
    if (value.is_null()) {
      const std::string& gone = name;
      std::erase_if(members, [&gone](const Json::Member& member) { return member.first == gone; });
      continue;
    }
    if (!value.is_object()) {
      target.Set(name, value);
      continue;
    }
    if (target.Find(name) == nullptr) target.Set(name, Json::Object());
    MergePatch(*target.FindMutable(name), value);
  }
}

}  // namespace pstrain::testing
