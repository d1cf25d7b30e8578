#include "cli/cluster/bundle/redact.h"

#include <array>
#include <string_view>
#include <utility>

#include "operator/kube/json_fields.h"

namespace pstrain::cluster {
namespace {

constexpr std::string_view kLeftOut = "(left out)";
constexpr std::array<std::string_view, 2> kDropped = {
    "managedFields", "kubectl.kubernetes.io/last-applied-configuration"};

Json RedactedList(const Json& list, bool variables) {
  Json array = Json::Array();
  for (const Json& item : list.items()) {
    Json copy = Redacted(item);
    if (variables && copy.Find("value") != nullptr) {
      copy.Set("value", Json::String(std::string(kLeftOut)));
    }
    array.Append(std::move(copy));
  }
  return array;
}

}  // namespace

Json Redacted(const Json& object) {
  if (object.is_array()) return RedactedList(object, false);
  if (!object.is_object()) return object;
  const bool secret = kube::TextOrEmpty(object, "kind") == "Secret";
  Json copy = Json::Object();
  for (const auto& [name, value] : object.members()) {
    bool dropped = false;
    for (const std::string_view one : kDropped) dropped |= name == one;
    if (dropped) continue;
    if (secret && (name == "data" || name == "stringData")) {
      copy.Set(name, Json::String(std::string(kLeftOut)));
    } else if (name == "env" && value.is_array()) {
      copy.Set(name, RedactedList(value, true));
    } else {
      copy.Set(name, Redacted(value));
    }
  }
  return copy;
}

}  // namespace pstrain::cluster
