#include "proto/contract/training_container.h"

namespace pstrain {
namespace {

const Json* MemberAt(const Json* object, std::string_view key) {
  return object == nullptr ? nullptr : object->Find(key);
}

const std::string* TextAt(const Json* object, std::string_view key) {
  const Json* text = MemberAt(object, key);
  return text == nullptr ? nullptr : text->AsString();
}

}  // namespace

Result<std::size_t> TrainingContainerIndex(const Json& pod) {
  const Json* annotations = MemberAt(pod.Find("metadata"), "annotations");
  const Json* named = MemberAt(annotations, kTrainingContainerAnnotation);
  if (named == nullptr) return std::size_t{0};
  const std::string* wanted = named->AsString();
  const Json* containers = MemberAt(pod.Find("spec"), "containers");
  const std::size_t count = containers == nullptr ? 0 : containers->items().size();
  for (std::size_t i = 0; i < count && wanted != nullptr; ++i) {
    const std::string* name = TextAt(&containers->items()[i], "name");
    if (name != nullptr && *name == *wanted) return i;
  }
  return InvalidArgumentError(
      "template.metadata.annotations: " + std::string(kTrainingContainerAnnotation) + " is " +
      WriteJson(*named) +
      ", which is the name of none of template.spec.containers; name one "
      "of them, or remove the annotation: then it is the first");
}

Result<const Json*> FindTrainingContainer(const Json& pod) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t index, TrainingContainerIndex(pod));
  const Json* containers = MemberAt(pod.Find("spec"), "containers");
  if (containers == nullptr || containers->items().empty()) return nullptr;
  return &containers->items()[index];
}

}  // namespace pstrain
