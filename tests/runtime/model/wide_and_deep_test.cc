#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/model.h"
#include "tests/runtime/model/described_graph.h"
#include "tests/runtime/model/in_memory_store.h"
#include "tests/runtime/model/numerical_gradient.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;

class WideAndDeepTest : public ::testing::Test {
 protected:
  WideAndDeepTest() {
    training_.set_seed(1);
    training_.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
    WideAndDeep* model = training_.mutable_model()->mutable_wide_and_deep();
    model->add_hidden_units(6);
    model->add_hidden_units(4);
    for (const char* name : {"n0", "n1"}) {
      Feature* feature = AddFeature(name);
      feature->mutable_numeric();
      feature->set_deep(true);
    }
    Feature* hashed = AddFeature("h");
    hashed->mutable_hashed()->set_buckets(5);
    hashed->set_embedding_dimension(3);
    AddFeature("w")->mutable_hashed()->set_buckets(4);
  }
  Feature* AddFeature(const std::string& name) {
    Feature* feature = training_.add_features();
    feature->set_name(name);
    feature->set_wide(true);
    return feature;
  }
  std::unique_ptr<Model> Create() {
    Result<std::unique_ptr<Model>> model = CreateModel(training_);
    EXPECT_TRUE(model.ok()) << model.status().ToString();
    return std::move(model).value();
  }
  std::string Error() { return CreateModel(training_).status().message(); }

  /// Records with no id, one id and, in "h", two ids.
  static Batch MakeBatch() {
    Rng rng(9);
    Batch batch;
    batch.records = 8;
    batch.features.resize(4);
    batch.features[2].offsets = {0, 1, 3, 3, 4, 6, 7, 8, 9};
    batch.features[2].ids = {4, 1, 2, 1, 0, 4, 3, 3, 1};
    batch.features[3].offsets = {0, 1, 2, 3, 4, 4, 5, 6, 7};
    batch.features[3].ids = {0, 3, 3, 1, 0, 1, 3};
    for (std::uint32_t i = 0; i < batch.records; ++i) {
      batch.features[0].values.push_back(static_cast<float>(rng.NextGaussian()));
      batch.features[1].values.push_back(static_cast<float>(rng.NextGaussian()));
      batch.labels.push_back(i % 3 == 0 ? 1.0F : 0.0F);
    }
    return batch;
  }

  Training training_;
};

TEST_F(WideAndDeepTest, WhenDifferentiated_EachVariableMatchesTheNumericalGradient) {
  ExpectNumericalGradients(*Create(), MakeBatch());
}

TEST_F(WideAndDeepTest, WhenDescribed_TheGraphSaysWhatItPredicts) {
  ExpectDescribed(*Create(), MakeBatch());
  training_.mutable_features(2)->set_embedding_dimension(0);
  training_.mutable_model()->mutable_wide_and_deep()->clear_hidden_units();
  ExpectDescribed(*Create(), MakeBatch());
  for (Feature& feature : *training_.mutable_features()) feature.set_wide(false);
  ExpectDescribed(*Create(), MakeBatch());
}

TEST_F(WideAndDeepTest, WhenDeclared_VariablesHaveTheirNamesShapesAndInitializers) {
  const std::unique_ptr<Model> model = Create();
  std::vector<std::string> names;
  for (const VariableSpec& variable : model->variables()) {
    EXPECT_EQ(variable.id(), names.size());
    names.push_back(variable.name());
  }
  EXPECT_THAT(names, ElementsAre("linear/bias", "linear/numeric", "linear/h", "linear/w",
                                 "embedding/h", "dense_0/kernel", "dense_0/bias", "dense_1/kernel",
                                 "dense_1/bias", "logits/kernel", "logits/bias"));
  const VariableSpec& embedding = model->variables()[4];
  EXPECT_EQ(embedding.kind(), VariableSpec::EMBEDDING);
  EXPECT_THAT(embedding.shape(), ElementsAre(5, 3));
  EXPECT_EQ(embedding.initializer().kind(), Initializer::TRUNCATED_NORMAL);
  EXPECT_DOUBLE_EQ(embedding.initializer().scale(), 1 / std::sqrt(3.0));
  const VariableSpec& kernel = model->variables()[5];
  EXPECT_THAT(kernel.shape(), ElementsAre(5, 6));
  EXPECT_EQ(kernel.initializer().kind(), Initializer::UNIFORM);
  EXPECT_DOUBLE_EQ(kernel.initializer().scale(), std::sqrt(6.0 / 11));
}

TEST_F(WideAndDeepTest, WhenPlanned_EachRowIsAskedForOnce) {
  const std::unique_ptr<Model> model = Create();
  const BatchPlan plan = model->Plan(MakeBatch());
  ASSERT_EQ(plan.requests.size(), 3U);
  EXPECT_THAT(plan.requests[0].rows, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(plan.requests[1].rows, ElementsAre(0, 1, 3));
  EXPECT_THAT(plan.positions[1], ElementsAre(0, 2, 2, 1, 0, 1, 2));
  EXPECT_EQ(plan.requests[2].rows, plan.requests[0].rows);
  EXPECT_EQ(plan.requests[2].variable, 4U);
}

TEST_F(WideAndDeepTest, WhenTheBatchIsEmpty_GradientsAreZero) {
  const std::unique_ptr<Model> model = Create();
  const Batch batch = FeatureSet::Create(training_.features())->EmptyBatch();
  const BatchPlan plan = model->Plan(batch);
  InMemoryStore store(model->variables());
  Parameters gradients;
  EXPECT_EQ(model->Step(batch, plan, store.Pull(plan), &gradients).records, 0U);
  EXPECT_EQ(gradients.dense[5], std::vector<float>(30));
  EXPECT_TRUE(model->Predict(batch, plan, store.Pull(plan)).empty());
}

TEST_F(WideAndDeepTest, WhenTrained_TheLossFalls) {
  const std::unique_ptr<Model> model = Create();
  const Batch batch = MakeBatch();
  const BatchPlan plan = model->Plan(batch);
  InMemoryStore store(model->variables());
  Parameters gradients;
  const double before = model->Step(batch, plan, store.Pull(plan), &gradients).loss;
  for (int i = 0; i < 200; ++i) {
    model->Step(batch, plan, store.Pull(plan), &gradients);
    store.Push(plan, gradients);
  }
  EXPECT_LT(model->Step(batch, plan, store.Pull(plan), &gradients).loss, before / 4);
  const std::vector<float> predictions = model->Predict(batch, plan, store.Pull(plan));
  EXPECT_GT(predictions[0], predictions[1]);
}

TEST_F(WideAndDeepTest, WhenTheDeclarationDoesNotFit_NamesTheField) {
  WideAndDeep* model = training_.mutable_model()->mutable_wide_and_deep();
  training_.mutable_features(0)->set_embedding_dimension(2);
  EXPECT_THAT(Error(), ::testing::StartsWith("feature n0: embeddingDimension is for categorical"));
  training_.mutable_features(0)->set_embedding_dimension(0);
  model->clear_hidden_units();
  EXPECT_EQ(Error(), "feature h: embeddingDimension needs hiddenUnits");
  training_.mutable_features(2)->set_embedding_dimension(0);
  EXPECT_EQ(Create()->variables().size(), 4U);
  training_.clear_model();
  EXPECT_EQ(Error(), "training.model: no model is given");
}

}  // namespace
}  // namespace pstrain
