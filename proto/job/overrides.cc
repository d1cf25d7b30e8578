#include "proto/job/overrides.h"

#include <cstddef>
#include <string>
#include <vector>

#include "proto/job/job_manifest_yaml.h"
#include "proto/job/manifest_path.h"
#include "proto/job/schema.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

void MarkAsOverride(Json& node) {
  node.set_position(ManifestError::kOverrideLine, 0);
  for (Json& item : node.mutable_items()) MarkAsOverride(item);
  for (Json::Member& member : node.mutable_members()) MarkAsOverride(member.second);
}

/// What the schema says of the place that a path has reached.
struct Place {
  const pb::Descriptor* message = nullptr;
  const pb::FieldDescriptor* list = nullptr;  // the field whose items come next
  const pb::FieldDescriptor* map = nullptr;   // the field whose keys come next
  bool free = false;                          // inside a raw_json field: no schema

  static Place Of(const pb::FieldDescriptor& descriptor, bool inside_container) {
    if (!inside_container && descriptor.is_map()) return {.map = &descriptor};
    if (!inside_container && descriptor.is_repeated()) return {.list = &descriptor};
    if (OptionsOf(descriptor).raw_json()) return {.free = true};
    return {.message = descriptor.message_type()};
  }
};

/// Drops the other members of the oneof that `descriptor` belongs to.
void DropAlternatives(const pb::FieldDescriptor& descriptor, Json& object) {
  const pb::OneofDescriptor* choice = descriptor.real_containing_oneof();
  if (choice == nullptr) return;
  std::erase_if(object.mutable_members(), [&](const Json::Member& member) {
    const pb::FieldDescriptor* other =
        FindManifestField(*descriptor.containing_type(), member.first);
    return other != nullptr && other != &descriptor && other->real_containing_oneof() == choice;
  });
}

/// Makes a null (also an absent) node a container of the kind that the step needs.
Status MakeContainer(const PathStep& step, Json& node) {
  if (node.is_null()) {
    node = step.is_index ? Json::Array() : Json::Object();
    node.set_position(ManifestError::kOverrideLine, 0);
  }
  if (step.is_index ? node.is_array() : node.is_object()) return OkStatus();
  return InvalidArgumentError(step.is_index ? "is not a list" : "is not an object");
}

Result<Place> NextPlace(const Place& place, const PathStep& step, Json& node) {
  if (place.free) return place;
  if (step.is_index) {
    if (place.list == nullptr) return InvalidArgumentError("is not a list");
    return Place::Of(*place.list, true);
  }
  if (place.map != nullptr) return Place::Of(*place.map->message_type()->map_value(), true);
  if (place.list != nullptr) return InvalidArgumentError("is a list; give an index: [0]");
  if (place.message == nullptr) return InvalidArgumentError("has no members");
  const pb::FieldDescriptor* descriptor = FindManifestField(*place.message, step.name);
  if (descriptor == nullptr) {
    return NotFoundError(UnknownFieldMessage(*place.message, step.name, false));
  }
  DropAlternatives(*descriptor, node);
  return Place::Of(*descriptor, false);
}

/// The child that the step names; made when absent.
Result<Json*> Child(const PathStep& step, Json& node) {
  if (!step.is_index) {
    if (Json* found = node.FindMutable(step.name)) return found;
    return &node.Set(step.name, Json::Null());
  }
  if (step.index > node.size()) {
    return InvalidArgumentError("has only " + std::to_string(node.size()) + " items");
  }
  if (step.index == node.size()) return &node.Append(Json::Null());
  return &node.mutable_items()[step.index];
}

Status Assign(const std::vector<PathStep>& steps, Json value, Json& manifest) {
  Place place{.message = PSTrainingJob::descriptor()};
  Json* node = &manifest;
  std::string path;
  for (const PathStep& step : steps) {
    const std::string next =
        step.is_index ? JoinIndex(path, step.index) : JoinMember(path, step.name);
    if (Status made = MakeContainer(step, *node); !made.ok()) {
      return InvalidArgumentError(path + ": " + made.message());
    }
    auto next_place = NextPlace(place, step, *node);
    if (!next_place.ok()) {
      const bool unknown = next_place.status().code() == StatusCode::kNotFound;
      return InvalidArgumentError((unknown ? next : path) + ": " + next_place.status().message());
    }
    place = *next_place;
    auto child = Child(step, *node);
    if (!child.ok()) return InvalidArgumentError(path + ": " + child.status().message());
    node = *child;
    path = next;
  }
  *node = std::move(value);
  return OkStatus();
}

/// The place of the `=` between path and value: the first outside quotes and brackets.
std::size_t FindEquals(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == '=' && !quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Status ApplyOverride(std::string_view override_text, Json& manifest) {
  const std::size_t equals = FindEquals(override_text);
  if (equals == std::string_view::npos) {
    return InvalidArgumentError(std::string(override_text) + ": must be PATH=VALUE");
  }
  const std::string_view path = override_text.substr(0, equals);
  const auto steps = ParseManifestPath(path);
  if (!steps.ok()) return InvalidArgumentError(std::string(path) + ": " + steps.status().message());
  YamlReading value = ReadYaml(override_text.substr(equals + 1));
  if (!value.errors.empty()) {
    return InvalidArgumentError(std::string(path) + ": " + value.errors.front().message);
  }
  MarkAsOverride(value.tree);
  return Assign(*steps, std::move(value.tree), manifest);
}

}  // namespace pstrain
