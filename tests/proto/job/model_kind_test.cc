#include "proto/job/model_kind.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

namespace pb = google::protobuf;

TEST(ModelKind, WhateverModelIsGiven_ItsWidestHiddenLayerIsFound) {
  const pb::OneofDescriptor& kinds = *ModelSpec::descriptor()->FindOneofByName("kind");
  int with_layers = 0;
  for (int i = 0; i < kinds.field_count(); ++i) {
    const pb::FieldDescriptor& kind = *kinds.field(i);
    ModelSpec model;
    pb::Message& given = *model.GetReflection()->MutableMessage(&model, &kind);
    EXPECT_EQ(WidestHiddenLayer(model), 0U) << kind.name();
    const pb::FieldDescriptor* const units = kind.message_type()->FindFieldByName("hidden_units");
    if (units == nullptr) continue;
    ++with_layers;
    ASSERT_TRUE(units->is_repeated()) << kind.name();
    ASSERT_EQ(units->cpp_type(), pb::FieldDescriptor::CPPTYPE_INT32) << kind.name();
    for (const std::int32_t width : {64, 1024, 8}) {
      given.GetReflection()->AddInt32(&given, units, width);
    }
    EXPECT_EQ(WidestHiddenLayer(model), 1024U) << kind.name();
  }
  EXPECT_GE(with_layers, 1);
}

TEST(ModelKind, TheFirstModelWithLayers_HasAFieldForTheirWidths) {
  const pb::FieldDescriptor* const first =
      ModelSpec::descriptor()->FindFieldByCamelcaseName(FirstModelWithLayers());
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first->message_type()->FindFieldByName("hidden_units"), nullptr);
}

TEST(ModelKind, WhenNoModelIsGiven_ThereIsNoLayer) {
  EXPECT_EQ(WidestHiddenLayer(ModelSpec()), 0U);
}

}  // namespace
}  // namespace pstrain
