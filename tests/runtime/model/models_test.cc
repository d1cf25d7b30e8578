#include <gtest/gtest.h>

#include "runtime/model/model.h"

namespace pstrain {
namespace {

TEST(Models_OfEachMemberOfModelSpec, AreInTheTable) {
  const google::protobuf::Descriptor& spec = *ModelSpec::descriptor();
  for (int i = 0; i < spec.field_count(); ++i) {
    Training training;
    Feature* feature = training.add_features();
    feature->set_name("f");
    feature->mutable_hashed()->set_buckets(2);
    ModelSpec* model = training.mutable_model();
    model->GetReflection()->MutableMessage(model, spec.field(i));
    const Result<std::unique_ptr<Model>> made = CreateModel(training);
    // A model may refuse what it is made from here; that there is one is what counts.
    if (!made.ok()) {
      EXPECT_NE(made.status().message(), "training.model: no model is given")
          << spec.field(i)->name();
    }
  }
  EXPECT_EQ(CreateModel(Training()).status().message(), "training.model: no model is given");
}

}  // namespace
}  // namespace pstrain
