#include "cli/manifest/tf_job_template.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "proto/contract/tf_config.h"
#include "proto/contract/training_container.h"
#include "proto/job/manifest_path.h"

namespace pstrain {
namespace {

/// What a TFJob knows its training container by, and that container's port.
constexpr std::string_view kContainer = "tensorflow";
constexpr std::string_view kPort = "tfjob-port";

bool HasText(const Json& object, std::string_view member, std::string_view text) {
  const Json* value = object.Find(member);
  return value != nullptr && value->AsString() != nullptr && *value->AsString() == text;
}

/// Takes the member out of the object, where it is.
void Drop(Json& object, std::string_view member, const std::string& path, const std::string& why,
          ConversionNotes& notes) {
  const Json* value = object.Find(member);
  if (value == nullptr) return;
  notes.Add(*value, JoinMember(path, member), Conversion::kDropped, why);
  object.Erase(member);
}

/// TF_CONFIG that the manifest sets itself.
void DropTfConfig(Json& container, const std::string& path, ConversionNotes& notes) {
  Json* env = container.FindMutable("env");
  if (env == nullptr) return;
  for (std::size_t i = 0; i < env->items().size(); ++i) {
    if (!HasText(env->items()[i], "name", "TF_CONFIG")) continue;
    notes.Add(env->items()[i], JoinIndex(path + ".env", i), Conversion::kDropped,
              "pstrain sets TF_CONFIG itself");
  }
  std::erase_if(env->mutable_items(),
                [](const Json& entry) { return HasText(entry, "name", "TF_CONFIG"); });
}

void NotePort(const Json& container, const std::string& path, ConversionNotes& notes) {
  const Json* ports = container.Find("ports");
  if (ports == nullptr) return;
  for (std::size_t i = 0; i < ports->items().size(); ++i) {
    const Json& port = ports->items()[i];
    const Json* number = port.Find("containerPort");
    if (!HasText(port, "name", kPort) || number == nullptr) continue;
    if (number->AsInt64() == kTrainingPort) continue;
    notes.Add(*number, JoinIndex(path + ".ports", i), Conversion::kChanged,
              "TF_CONFIG names port " + std::to_string(kTrainingPort) + " of each replica, not " +
                  WriteJson(*number) +
                  "; a program that reads its port from TF_CONFIG needs no change");
  }
}

void NoteProgram(const Json& container, const std::string& path, ConversionNotes& notes) {
  const Json* command = container.Find("command");
  const Json* image = container.Find("image");
  const Json& at = image == nullptr ? container : *image;
  if (command == nullptr || command->size() == 0) {
    notes.Add(at, path, Conversion::kToDo,
              "write the program as command: with the entrypoint of the image alone nothing starts "
              "pstrain-agent, and the pod is killed because it serves no /healthz");
  }
  notes.Add(at, path + ".image", Conversion::kToDo,
            "put pstrain-agent into the image, where PATH finds it; it is started around the "
            "command");
}

/// Names the training container where it is not the first.
void NameContainer(std::size_t index, Json& pod_template) {
  if (index == 0) return;
  if (pod_template.Find("metadata") == nullptr) pod_template.Set("metadata", Json::Object());
  Json& metadata = *pod_template.FindMutable("metadata");
  if (!metadata.is_object()) return;
  if (metadata.Find("annotations") == nullptr) metadata.Set("annotations", Json::Object());
  Json& annotations = *metadata.FindMutable("annotations");
  if (!annotations.is_object()) return;
  annotations.Set(kTrainingContainerAnnotation, Json::String(std::string(kContainer)));
}

void ConvertContainers(const std::string& path, Json& pod_template, Json& spec,
                       ConversionNotes& notes) {
  Json* containers = spec.FindMutable("containers");
  std::size_t training = containers == nullptr ? 0 : containers->items().size();
  for (std::size_t i = 0; containers != nullptr && i < containers->items().size(); ++i) {
    Json& container = containers->mutable_items()[i];
    DropTfConfig(container, JoinIndex(path + ".containers", i), notes);
    if (HasText(container, "name", kContainer)) training = i;
  }
  if (containers == nullptr || training == containers->items().size()) {
    notes.Add(spec, path + ".containers", Conversion::kRefused,
              "no container has the name tensorflow, so nobody knows which one trains; give it to "
              "one");
    return;
  }
  const Json& container = containers->items()[training];
  NotePort(container, JoinIndex(path + ".containers", training), notes);
  NoteProgram(container, JoinIndex(path + ".containers", training), notes);
  NameContainer(training, pod_template);
}

}  // namespace

Json ConvertTfJobTemplate(const Json& pod_template, const std::string& path,
                          ConversionNotes& notes) {
  Json converted = pod_template;
  if (!converted.is_object() || converted.Find("spec") == nullptr ||
      !converted.Find("spec")->is_object()) {
    notes.Add(pod_template, path, Conversion::kRefused, "must be an object with a spec");
    return converted;
  }
  Json spec = *converted.Find("spec");
  const std::string inside = path + ".spec";
  Drop(spec, "restartPolicy", inside,
       "pods of a job have restartPolicy Never, pstrain itself starts the next attempt", notes);
  Drop(spec, "hostname", inside, "pstrain sets it, because TF_CONFIG names replicas by it", notes);
  Drop(spec, "subdomain", inside, "pstrain sets it, because TF_CONFIG names replicas by it", notes);
  if (Json* init = spec.FindMutable("initContainers")) {
    for (std::size_t i = 0; i < init->items().size(); ++i) {
      DropTfConfig(init->mutable_items()[i], JoinIndex(inside + ".initContainers", i), notes);
    }
  }
  ConvertContainers(inside, converted, spec, notes);
  converted.Set("spec", std::move(spec));
  return converted;
}

}  // namespace pstrain
