#include "local/replicas/pod_template.h"

#include <cstdint>
#include <string_view>

#include "base/text/json.h"
#include "proto/contract/training_container.h"
#include "proto/job/input_kind.h"

namespace pstrain::local {
namespace {

std::string Text(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

void ReadStrings(const Json* list, std::vector<std::string>& out) {
  if (list == nullptr) return;
  for (const Json& item : list->items()) {
    if (item.AsString() != nullptr) out.push_back(*item.AsString());
  }
}

void ReadEnvironment(const Json& container, PodTemplate& out) {
  const Json* list = container.Find("env");
  if (list == nullptr) return;
  for (const Json& entry : list->items()) {
    const std::string name = Text(entry, "name");
    if (entry.Find("valueFrom") != nullptr) {
      out.ignored.push_back("env " + name + " (valueFrom)");
    } else {
      out.environment.emplace_back(name, Text(entry, "value"));
    }
  }
}

Status ReadMounts(const Json& container, PodTemplate& out) {
  const Json* list = container.Find("volumeMounts");
  if (list == nullptr) return OkStatus();
  for (const Json& entry : list->items()) {
    const std::string name = Text(entry, "name");
    std::string path = Text(entry, "mountPath");
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (name.empty() || path.empty() || name.find('/') != std::string::npos || name == "..") {
      return InvalidArgumentError("template: volumeMounts: name and mountPath must be given");
    }
    const std::string sub_path = Text(entry, "subPath");
    out.mounts[path] = sub_path.empty() ? name : name + "/" + sub_path;
  }
  return OkStatus();
}

/// REQUIRES: the manifest was checked.
void ReadGrace(const Json& root, PodTemplate& out) {
  const Json* spec = root.Find("spec");
  const Json* grace = spec == nullptr ? nullptr : spec->Find("terminationGracePeriodSeconds");
  const auto seconds = grace == nullptr ? std::nullopt : grace->AsInt64();
  if (seconds) out.grace = std::chrono::seconds(*seconds);
}

void MapFiles(const PathMap& mounts, Input& input) {
  if (KindOf(input).empty()) return;
  std::vector<std::string> files = FilesOf(input);
  for (std::string& file : files) file = MapPath(mounts, file);
  SetFilesOf(input, files);
}

}  // namespace

Result<PodTemplate> ReadPodTemplate(const ReplicaSpec& spec) {
  PodTemplate result;
  if (spec.template_().empty()) return result;
  PSTRAIN_ASSIGN_OR_RETURN(const Json root, ParseJson(spec.template_()));
  ReadGrace(root, result);
  PSTRAIN_ASSIGN_OR_RETURN(const Json* container, FindTrainingContainer(root));
  if (container == nullptr) return result;
  ReadStrings(container->Find("command"), result.command);
  ReadStrings(container->Find("args"), result.command);
  ReadEnvironment(*container, result);
  PSTRAIN_RETURN_IF_ERROR(ReadMounts(*container, result));
  for (const std::string_view key : {"image", "resources", "livenessProbe", "readinessProbe",
                                     "startupProbe", "envFrom", "lifecycle"}) {
    if (container->Find(key) != nullptr) result.ignored.emplace_back(key);
  }
  return result;
}

std::string MapPath(const PathMap& mounts, const std::string& path) {
  for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) {
    const auto& [from, to] = *mount;
    if (!path.starts_with(from)) continue;
    if (path.size() == from.size()) return to;
    if (from == "/") return to + path;
    if (path[from.size()] == '/') return to + path.substr(from.size());
  }
  return path;
}

PSTrainingJob MapJobPaths(const PathMap& mounts, PSTrainingJob job) {
  if (job.spec().has_program()) {
    Checkpoint& checkpoint = *job.mutable_spec()->mutable_program()->mutable_checkpoint();
    checkpoint.set_directory(MapPath(mounts, checkpoint.directory()));
  }
  if (!job.spec().has_training()) return job;
  Training& training = *job.mutable_spec()->mutable_training();
  MapFiles(mounts, *training.mutable_input());
  if (training.has_evaluation()) MapFiles(mounts, *training.mutable_evaluation()->mutable_input());
  Checkpoint& checkpoint = *training.mutable_checkpoint();
  checkpoint.set_directory(MapPath(mounts, checkpoint.directory()));
  if (training.restore().has_run()) {
    RestoreRun& run = *training.mutable_restore()->mutable_run();
    if (!run.path().empty()) run.set_path(MapPath(mounts, run.path()));
  }
  return job;
}

}  // namespace pstrain::local
