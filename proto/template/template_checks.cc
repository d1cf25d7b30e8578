#include "proto/template/template_checks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proto/contract/reserved_names.h"
#include "proto/contract/task_env.h"
#include "proto/job/manifest_path.h"
#include "proto/job/value_decoder.h"
#include "proto/template/shared_template.h"

namespace pstrain {
namespace {

using Errors = std::vector<ManifestError>;

void Report(const Json& tree, const std::string& path, std::string text, Errors& errors) {
  errors.push_back({.line = LineAt(tree, path), .path = path, .message = std::move(text)});
}

/// Calls `visit` with the spec of each template and where that stands.
void ForPodSpecs(const PSTrainingJob& job,
                 const std::function<void(const Json& spec, const std::string& path)>& visit) {
  for (const PodTemplateText& text : TemplatesOf(job.spec())) {
    // That it is JSON is the decoder's doing.
    const auto pod = ParseJson(*text.json);
    const Json* spec = pod.ok() ? pod->Find("spec") : nullptr;
    if (spec != nullptr) visit(*spec, text.path + ".spec");
  }
}

/// Calls `visit` with each item of the list that is `owner`'s member `name`, and where it stands.
void ForItems(const Json& owner, std::string_view name, const std::string& path,
              const std::function<void(const Json& item, const std::string& path)>& visit) {
  const Json* list = owner.Find(name);
  if (list == nullptr) return;
  const std::string inner = JoinMember(path, name);
  for (std::size_t i = 0; i < list->items().size(); ++i) {
    visit(list->items()[i], JoinIndex(inner, i));
  }
}

const std::string* NameOf(const Json& item) {
  const Json* name = item.Find("name");
  return name == nullptr ? nullptr : name->AsString();
}

/// A place in a pod's spec that breaks one of the rules that ask for TemplatesLeaveOurs.
struct Breach {
  std::string_view rule;
  /// The field or the element, in the manifest.
  std::string path;
};
using Breaches = std::vector<Breach>;

void FindFields(const Json& spec, const std::string& path, Breaches& breaches) {
  const Json* policy = spec.Find("restartPolicy");
  if (policy != nullptr && (policy->AsString() == nullptr || *policy->AsString() != "Never")) {
    breaches.push_back({"template-leaves-restart-policy", path + ".restartPolicy"});
  }
  if (spec.Find("hostname") != nullptr) {
    breaches.push_back({"template-leaves-hostname", path + ".hostname"});
  }
  if (spec.Find("subdomain") != nullptr) {
    breaches.push_back({"template-leaves-subdomain", path + ".subdomain"});
  }
}

void FindVolumes(const Json& spec, const std::string& path, Breaches& breaches) {
  ForItems(spec, "volumes", path, [&](const Json& volume, const std::string& place) {
    const std::string* name = NameOf(volume);
    if (name == nullptr || std::ranges::find(kReservedVolumes, *name) == kReservedVolumes.end()) {
      return;
    }
    breaches.push_back({"template-leaves-volume-names", place});
  });
}

bool TakesPortName(const Json& port, bool of_init_container) {
  const std::string* name = NameOf(port);
  if (name == nullptr) return false;
  const auto* const reserved = std::ranges::find(kReservedPorts, *name, &ReservedPort::name);
  if (reserved == kReservedPorts.end()) return false;
  const Json* number = port.Find("containerPort");
  return of_init_container || number == nullptr || number->AsInt64() != reserved->number;
}

void FindPorts(const Json& spec, const std::string& path, Breaches& breaches) {
  for (const auto& [list, rule] :
       {std::pair{"containers", "containers-leave-port-names"},
        std::pair{"initContainers", "init-containers-leave-port-names"}}) {
    const bool init = std::string_view(list) == "initContainers";
    ForItems(spec, list, path, [&, named = rule](const Json& container, const std::string& place) {
      ForItems(container, "ports", place, [&](const Json& port, const std::string& port_place) {
        if (TakesPortName(port, init)) breaches.push_back({named, port_place});
      });
    });
  }
}

const Rule* RuleOfTemplates(std::string_view id) {
  for (const Rule& rule :
       ReplicaSpec::descriptor()->options().GetExtension(manifest_message).rules()) {
    if (rule.id() == id) return &rule;
  }
  return nullptr;
}

}  // namespace

void TemplatesLeaveTfConfig(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  ForPodSpecs(job, [&](const Json& spec, const std::string& path) {
    for (const std::string_view list : {"containers", "initContainers"}) {
      ForItems(spec, list, path, [&](const Json& container, const std::string& place) {
        ForItems(container, "env", place, [&](const Json& entry, const std::string& entry_place) {
          const std::string* name = NameOf(entry);
          if (name == nullptr || (*name != kTfConfigEnv && *name != kClusterEnv)) return;
          Report(tree, entry_place, "sets " + *name + ", which pstrain sets itself; remove it",
                 errors);
        });
      });
    }
  });
}

void GracePeriodsCount(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  constexpr std::string_view kField = "terminationGracePeriodSeconds";
  ForPodSpecs(job, [&](const Json& spec, const std::string& path) {
    const Json* grace = spec.Find(kField);
    if (grace == nullptr) return;
    const std::optional<std::int64_t> seconds = grace->AsInt64();
    if (seconds && *seconds >= 0 && *seconds <= kLongestGraceSeconds) return;
    Report(tree, path + "." + std::string(kField),
           "must be an integer from 0 to " + std::to_string(kLongestGraceSeconds) + "; " +
               Found(*grace),
           errors);
  });
}

// An apiserver names the list that a bad element is in, and cannot name the element: so does the
// path here. The line is that of the element.
void TemplatesLeaveOurs(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  ForPodSpecs(job, [&](const Json& spec, const std::string& path) {
    Breaches breaches;
    FindFields(spec, path, breaches);
    FindVolumes(spec, path, breaches);
    FindPorts(spec, path, breaches);
    const std::string above = path.substr(0, path.rfind("spec"));
    for (const Breach& breach : breaches) {
      const Rule* rule = RuleOfTemplates(breach.rule);
      if (rule == nullptr) continue;  // a test holds these ids against psjob.proto
      errors.push_back({.line = LineAt(tree, breach.path),
                        .path = above + rule->inside(),
                        .message = rule->message()});
    }
  });
}

}  // namespace pstrain
