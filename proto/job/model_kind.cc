#include "proto/job/model_kind.h"

#include <google/protobuf/reflection.h>

#include <algorithm>

namespace pstrain {

namespace pb = google::protobuf;

std::uint32_t WidestHiddenLayer(const ModelSpec& model) {
  if (model.kind_case() == ModelSpec::KIND_NOT_SET) return 0;
  const pb::FieldDescriptor& kind = *ModelSpec::descriptor()->FindFieldByNumber(model.kind_case());
  const pb::FieldDescriptor* const units = kind.message_type()->FindFieldByName("hidden_units");
  if (units == nullptr) return 0;
  const pb::Message& given = model.GetReflection()->GetMessage(model, &kind);
  std::int32_t widest = 0;
  for (const std::int32_t width :
       given.GetReflection()->GetRepeatedFieldRef<std::int32_t>(given, units)) {
    widest = std::max(widest, width);
  }
  return static_cast<std::uint32_t>(widest);
}

}  // namespace pstrain
