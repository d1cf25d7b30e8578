#include "proto/job/model_kind.h"

#include <google/protobuf/reflection.h>

#include <algorithm>

namespace pstrain {

namespace pb = google::protobuf;

namespace {

/// The field of the model that the job gives, and in its message the widths of hidden layers. Both
/// are null, or neither is.
struct HiddenUnits {
  const pb::FieldDescriptor* model = nullptr;
  const pb::FieldDescriptor* units = nullptr;
};

/// Null for a model without any.
const pb::FieldDescriptor* LayersOf(const pb::FieldDescriptor& kind) {
  return kind.message_type()->FindFieldByName("hidden_units");
}

HiddenUnits HiddenUnitsOf(const ModelSpec& model) {
  if (model.kind_case() == ModelSpec::KIND_NOT_SET) return {};
  const pb::FieldDescriptor* const kind =
      ModelSpec::descriptor()->FindFieldByNumber(model.kind_case());
  const pb::FieldDescriptor* const units = LayersOf(*kind);
  if (units == nullptr) return {};
  return {kind, units};
}

}  // namespace

std::uint32_t WidestHiddenLayer(const ModelSpec& model) {
  const HiddenUnits fields = HiddenUnitsOf(model);
  if (fields.units == nullptr) return 0;
  const pb::Message& given = model.GetReflection()->GetMessage(model, fields.model);
  std::int32_t widest = 0;
  for (const std::int32_t width :
       given.GetReflection()->GetRepeatedFieldRef<std::int32_t>(given, fields.units)) {
    widest = std::max(widest, width);
  }
  return static_cast<std::uint32_t>(widest);
}

std::string HiddenUnitsPath(const ModelSpec& model) {
  const HiddenUnits fields = HiddenUnitsOf(model);
  if (fields.units == nullptr) return {};
  return "model." + fields.model->json_name() + "." + fields.units->json_name();
}

std::string FirstModelWithLayers() {
  const pb::OneofDescriptor& kinds = *ModelSpec::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds.field_count(); ++i) {
    if (LayersOf(*kinds.field(i)) != nullptr) return kinds.field(i)->json_name();
  }
  return {};
}

}  // namespace pstrain
