#include "proto/template/shared_template.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
#include "proto/job/manifest_path.h"

namespace pstrain {
namespace {

using Errors = std::vector<ManifestError>;

/// A list whose items are matched by a member of theirs: patchMergeKey of that field in
/// k8s.io/api/core/v1/types.go.
struct KeyedList {
  std::string_view field;
  std::string_view key;
  /// The role's item takes the place of the shared one. What both have of a volume or a variable
  /// would be two sources of one, which Kubernetes refuses.
  bool replaces = false;
};
constexpr std::array<KeyedList, 13> kKeyedLists = {{
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"volumes", "name", true},
    {"imagePullSecrets", "name"},
    {"hostAliases", "ip"},
    {"topologySpreadConstraints", "topologyKey"},
    {"schedulingGates", "name"},
    {"resourceClaims", "name", true},
    {"env", "name", true},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"ports", "containerPort"},
}};

class Merger {
 public:
  /// Errors are added to `errors` with their places in the role's template.
  Merger(const Json& tree, Errors& errors) : tree_(tree), errors_(errors) {}

  Json Merge(const Json& shared, const Json& own, const std::string& path) {
    if (!shared.is_object() || !own.is_object()) return own;
    Json merged = shared;
    for (const auto& [name, value] : own.members()) {
      if (value.is_null()) {
        merged.Erase(name);
        continue;
      }
      const Json* before = merged.Find(name);
      if (before == nullptr || before->is_null()) {
        merged.Set(name, value);
        continue;
      }
      const std::string here = JoinMember(path, name);
      const auto* const list = std::ranges::find(kKeyedLists, name, &KeyedList::field);
      if (before->is_object() != value.is_object() || before->is_array() != value.is_array()) {
        Report(here, "is " + Kind(value) + ", and " + Kind(*before) +
                         " in spec.template; write both alike, or remove one of them");
      } else if (value.is_array() && list != kKeyedLists.end()) {
        merged.Set(name, MergeList(*list, *before, value, here));
      } else {
        merged.Set(name, Merge(*before, value, here));
      }
    }
    return merged;
  }

 private:
  static std::string Kind(const Json& value) {
    return value.is_array() ? "a list" : value.is_object() ? "an object" : "a single value";
  }

  Json MergeList(const KeyedList& list, const Json& shared, const Json& own,
                 const std::string& path) {
    Json merged = shared;
    std::vector<Json>& items = merged.mutable_items();
    for (std::size_t i = 0; i < own.items().size(); ++i) {
      const Json& item = own.items()[i];
      const std::string here = JoinIndex(path, i);
      const Json* key = item.Find(list.key);
      if (key == nullptr) {
        Report(here, "has no " + std::string(list.key) +
                         ", by which it would be merged with the list of spec.template; set it");
        continue;
      }
      const auto same = std::ranges::find_if(items, [&](const Json& other) {
        const Json* other_key = other.Find(list.key);
        return other_key != nullptr && *other_key == *key;
      });
      if (same == items.end()) {
        items.push_back(item);
      } else {
        *same = list.replaces ? item : Merge(*same, item, here);
      }
    }
    return merged;
  }

  void Report(const std::string& path, std::string text) {
    errors_.push_back({.line = LineAt(tree_, path), .path = path, .message = std::move(text)});
  }

  const Json& tree_;
  Errors& errors_;
};

std::string TemplatePath(Role role) {
  return "spec.replicaSpecs." + std::string(RoleName(role)) + ".template";
}

/// The role's template over the shared one, or the shared one where the role has none.
std::string MergeInto(const std::string& shared, const std::string& own, const std::string& path,
                      const Json& tree, Errors& errors) {
  if (own.empty()) return shared;
  const auto shared_pod = ParseJson(shared);
  const auto own_pod = ParseJson(own);
  if (!shared_pod.ok() || !own_pod.ok()) return own;  // the decoder has written both
  return WriteJson(Merger(tree, errors).Merge(*shared_pod, *own_pod, path));
}

}  // namespace

std::vector<PodTemplateText> TemplatesOf(const JobSpec& spec) {
  std::vector<PodTemplateText> texts;
  if (!spec.template_().empty()) texts.push_back({"spec.template", &spec.template_()});
  for (const Role role : kRoles) {
    const ReplicaSpec* replica = FindReplicaSpec(spec, role);
    if (replica == nullptr || replica->template_().empty()) continue;
    texts.push_back({TemplatePath(role), &replica->template_()});
  }
  return texts;
}

void TemplatesMerge(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  const std::string& shared = job.spec().template_();
  if (shared.empty()) return;
  for (const Role role : kRoles) {
    const ReplicaSpec* replica = FindReplicaSpec(job.spec(), role);
    if (replica == nullptr) continue;
    MergeInto(shared, replica->template_(), TemplatePath(role), tree, errors);
  }
}

void MergeSharedTemplate(JobSpec& spec) {
  if (spec.template_().empty()) return;
  const Json no_lines;
  Errors none;
  ReplicaSpecs& specs = *spec.mutable_replica_specs();
  std::vector<ReplicaSpec*> roles = {specs.mutable_chief(), specs.mutable_ps(),
                                     specs.mutable_worker()};
  if (specs.has_evaluator()) roles.push_back(specs.mutable_evaluator());
  for (ReplicaSpec* role : roles) {
    role->set_template_(MergeInto(spec.template_(), role->template_(), "", no_lines, none));
  }
  spec.clear_template_();
}

}  // namespace pstrain
