#include "proto/job/schema.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text/edit_distance.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

constexpr std::array<std::string_view, 6> kServerMetadata = {
    "selfLink",   "managedFields", "ownerReferences",
    "finalizers", "generateName",  "deletionGracePeriodSeconds"};

/// More names than this are not listed in a message.
constexpr std::size_t kMaxListedNames = 14;

}  // namespace

const pb::FieldDescriptor* FindManifestField(const pb::Descriptor& message, std::string_view name) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (message.field(i)->json_name() == name) return message.field(i);
  }
  return nullptr;
}

bool IsLeftAlone(const pb::Descriptor& message, std::string_view name) {
  return &message == ObjectMeta::descriptor() &&
         std::find(kServerMetadata.begin(), kServerMetadata.end(), name) != kServerMetadata.end();
}

std::vector<std::string> ManifestNames(const pb::Descriptor& message, bool with_test_only) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& descriptor = *message.field(i);
    if (with_test_only || !OptionsOf(descriptor).test_only()) {
      names.push_back(descriptor.json_name());
    }
  }
  return names;
}

std::string JoinNames(const std::vector<std::string>& names, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? last : std::string_view(", ");
    text += names[i];
  }
  return text;
}

std::string UnknownFieldMessage(const pb::Descriptor& message, std::string_view name,
                                bool with_test_only) {
  const std::vector<std::string> names = ManifestNames(message, with_test_only);
  const std::string best = NearestName(name, names);
  if (!best.empty()) return "unknown field; did you mean \"" + best + "\"?";
  if (names.empty()) return "unknown field; there are none here";
  if (names.size() > kMaxListedNames) return "unknown field";
  return "unknown field; available: " + JoinNames(names);
}

const FieldOptions& OptionsOf(const pb::FieldDescriptor& descriptor) {
  return descriptor.options().GetExtension(manifest_field);
}

std::string ManifestPathOf(const pb::Descriptor& message, std::string_view field) {
  std::string path;
  const pb::Descriptor* current = &message;
  for (std::size_t begin = 0; begin < field.size() && current != nullptr;) {
    const std::size_t end = std::min(field.find('.', begin), field.size());
    const auto* descriptor =
        current->FindFieldByName(std::string(field.substr(begin, end - begin)));
    if (descriptor == nullptr) break;
    path += (path.empty() ? "" : ".") + descriptor->json_name();
    current = descriptor->message_type();
    begin = end + 1;
  }
  return path;
}

std::string PathOfRule(const pb::Descriptor& message, const Rule& rule) {
  std::string path = ManifestPathOf(message, rule.field());
  if (!rule.inside().empty()) path += (path.empty() ? "" : ".") + rule.inside();
  return path;
}

std::vector<const Rule*> RulesOf(const pb::Descriptor& message) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : message.options().GetExtension(manifest_message).rules()) {
    rules.push_back(&rule);
  }
  if (&message != JobSpec::descriptor()) return rules;
  const auto& of_roles = ReplicaSpec::descriptor()->options().GetExtension(manifest_message);
  for (const Rule& rule : of_roles.rules()) {
    if (rule.field() == "template") rules.push_back(&rule);
  }
  return rules;
}

bool IsUnion(const pb::Descriptor& message) {
  return message.real_oneof_decl_count() == 1 &&
         message.oneof_decl(0)->field_count() == message.field_count();
}

}  // namespace pstrain
