#include "cli/cluster/describe_config.h"

#include <map>
#include <variant>
#include <vector>

#include "cli/cluster/job_reader.h"
#include "cli/cluster/replicas.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/reserved_names.h"
#include "proto/contract/training_container.h"

namespace pstrain::cluster {
namespace {

using kube::FindPath;
using kube::TextOrEmpty;

/// The name of the ConfigMap that a pod mounts as its job; empty when it mounts none.
std::string JobConfigOf(const Json& pod) {
  const Json* volumes = FindPath(pod, {"spec", "volumes"});
  if (volumes == nullptr) return {};
  for (const Json& volume : volumes->items()) {
    if (TextOrEmpty(volume, "name") == kJobVolume) {
      return TextOrEmpty(volume.Find("configMap"), "name");
    }
  }
  return {};
}

/// The ConfigMap that the newest pods have; without pods the one that was made last.
const Json* ConfigOf(const std::vector<ReplicaPod>& pods, const std::vector<Json>& maps) {
  std::string name;
  for (const ReplicaPod& pod : pods) {
    if (name.empty()) name = JobConfigOf(*pod.pod);
  }
  const Json* newest = nullptr;
  for (const Json& map : maps) {
    if (NameOf(map) == name) return &map;
    const auto made = [](const Json& object) {
      return TextOrEmpty(FindPath(object, {"metadata"}), "creationTimestamp");
    };
    if (newest == nullptr || made(map) > made(*newest)) newest = &map;
  }
  return newest;
}

using Variables = std::map<std::string, std::string>;

/// `$(NAME)` of variables that are known, as the kubelet replaces them.
std::string Expanded(const std::string& text, const Variables& known) {
  std::string expanded;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.compare(at, 2, "$(") == 0 ? text.find(')', at) : std::string::npos;
    const auto variable =
        end == std::string::npos ? known.end() : known.find(text.substr(at + 2, end - at - 2));
    if (variable == known.end()) {
      expanded += text[at++];
      continue;
    }
    expanded += variable->second;
    at = end + 1;
  }
  return expanded;
}

/// What a variable is set to, or where its value comes from.
std::string ValueOf(const Json& entry, const Json& config, const Variables& known) {
  const Json* source = entry.Find("valueFrom");
  if (source == nullptr) return Expanded(TextOrEmpty(entry, "value"), known);
  if (const Json* key = source->Find("configMapKeyRef")) {
    const std::string name = TextOrEmpty(*key, "name");
    if (name == NameOf(config)) {
      return TextOrEmpty(config.Find("data"), TextOrEmpty(*key, "key"));
    }
    return "(key " + TextOrEmpty(*key, "key") + " of ConfigMap " + name + ")";
  }
  if (const Json* key = source->Find("secretKeyRef")) {
    return "(key " + TextOrEmpty(*key, "key") + " of Secret " + TextOrEmpty(*key, "name") +
           ", not read)";
  }
  if (const Json* field = source->Find("fieldRef")) {
    return "(field " + TextOrEmpty(*field, "fieldPath") + " of the pod)";
  }
  return "(of the pod)";
}

std::string Environment(const ReplicaPod& pod, const Json& config) {
  const Result<const Json*> container = FindTrainingContainer(*pod.pod);
  if (!container.ok() || *container == nullptr) return {};
  std::string text = "# environment of " + pod.Replica() + " (pod " + pod.PodName() +
                     ", container " + TextOrEmpty(**container, "name") + ")\n";
  Variables known;
  const Json* env = (*container)->Find("env");
  if (env == nullptr) return text;
  for (const Json& entry : env->items()) {
    const std::string name = TextOrEmpty(entry, "name");
    known[name] = ValueOf(entry, config, known);
    text += name + "=" + known[name] + "\n";
  }
  return text;
}

}  // namespace

Outcome DescribeConfig(Session& session, const std::string& job) {
  JobReader reader(session);
  const auto got = reader.Get(job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  if (PhaseOf(std::get<Json>(got)).empty()) return reader.NoStatus(job);
  auto listed = reader.ListOfJob(kube::PodResource(), job);
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  auto maps = reader.ListOfJob(kube::ConfigMapResource(), job);
  if (auto* problem = std::get_if<Problem>(&maps)) return std::move(*problem);
  const std::vector<ReplicaPod> pods = NewestPods(std::get<std::vector<Json>>(listed));
  const Json* config = ConfigOf(pods, std::get<std::vector<Json>>(maps));
  if (config == nullptr) {
    return Problem{kExitNotThere, "job " + job + " has no ConfigMap: nothing of it was made yet; " +
                                      "pstrain status " + job + " says what it waits for"};
  }
  std::string text = "# ConfigMap " + session.name_space + "/" + NameOf(*config) + "\n";
  if (const Json* data = config->Find("data")) {
    for (const auto& [key, value] : data->members()) {
      const std::string* content = value.AsString();
      if (content == nullptr) continue;
      text += "# " + key + "\n" + *content + (content->ends_with('\n') ? "" : "\n");
    }
  }
  std::string role;
  for (const ReplicaPod& pod : pods) {
    if (pod.role == role) continue;
    role = pod.role;
    text += "\n" + Environment(pod, *config);
  }
  if (pods.empty()) session.tell("job " + job + " has no pods: their environment is not known");
  return Answer{std::move(text)};
}

}  // namespace pstrain::cluster
