#include "runtime/model/deep_fm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/runtime/model/described_graph.h"
#include "tests/runtime/model/in_memory_store.h"
#include "tests/runtime/model/numerical_gradient.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;

class DeepFmTest : public ::testing::Test {
 protected:
  DeepFmTest() {
    training_.set_seed(1);
    training_.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
    for (const char* name : {"a", "b", "c"}) {
      Feature* feature = AddFeature(name);
      feature->mutable_hashed()->set_buckets(4);
      feature->set_embedding_dimension(3);
    }
  }
  Feature* AddFeature(const std::string& name) {
    Feature* feature = training_.add_features();
    feature->set_name(name);
    feature->set_wide(true);
    return feature;
  }
  void SetHiddenUnits(std::initializer_list<int> sizes) {
    DeepFm* model = training_.mutable_model()->mutable_deep_fm();
    model->clear_hidden_units();
    for (const int size : sizes) model->add_hidden_units(size);
  }
  std::unique_ptr<Model> Create() {
    Result<std::unique_ptr<Model>> model = CreateModel(training_);
    EXPECT_TRUE(model.ok()) << model.status().ToString();
    return std::move(model).value();
  }
  std::string Error() { return CreateModel(training_).status().message(); }

  Training training_;
};

/// One id of each feature in each record.
void AddRecord(std::initializer_list<std::uint64_t> ids, float label, Batch& batch) {
  batch.features.resize(ids.size());
  auto column = batch.features.begin();
  for (const std::uint64_t id : ids) {
    if (column->offsets.empty()) column->offsets.push_back(0);
    column->ids.push_back(id);
    column->offsets.push_back(static_cast<std::uint32_t>(column->ids.size()));
    ++column;
  }
  batch.labels.push_back(label);
  ++batch.records;
}

TEST_F(DeepFmTest, DerivativesAndDescription_AreThoseOfWhatItPredicts) {
  Feature* number = AddFeature("n");
  number->mutable_numeric();
  number->set_deep(true);
  AddFeature("w")->mutable_hashed()->set_buckets(2);  // in the linear part alone
  // Records with no id, one id and two ids of a feature.
  Rng rng(9);
  Batch batch;
  batch.records = 6;
  batch.features.resize(5);
  batch.features[0].offsets = {0, 1, 3, 3, 4, 5, 6};
  batch.features[0].ids = {3, 1, 2, 1, 0, 3};
  batch.features[1].offsets = {0, 1, 2, 3, 4, 4, 5};
  batch.features[1].ids = {0, 3, 3, 1, 2};
  batch.features[2].offsets = {0, 1, 2, 3, 4, 5, 6};
  batch.features[2].ids = {0, 1, 2, 2, 1, 0};
  batch.features[4].offsets = {0, 1, 2, 3, 4, 5, 6};
  batch.features[4].ids = {0, 1, 1, 0, 1, 0};
  for (std::uint32_t i = 0; i < batch.records; ++i) {
    batch.features[3].values.push_back(static_cast<float>(rng.NextGaussian()));
    batch.labels.push_back(i % 3 == 0 ? 1.0F : 0.0F);
  }
  for (const auto& hidden_units : {std::initializer_list<int>{}, {6, 4}}) {
    SetHiddenUnits(hidden_units);
    ExpectNumericalGradients(*Create(), batch);
    ExpectDescribed(*Create(), batch);
  }
}

TEST_F(DeepFmTest, WhenDeclared_VariablesAreThoseOfItsParts) {
  SetHiddenUnits({6});
  std::vector<std::string> names;
  const std::unique_ptr<Model> model = Create();
  for (const VariableSpec& variable : model->variables()) names.push_back(variable.name());
  EXPECT_THAT(names, ElementsAre("linear/bias", "linear/a", "linear/b", "linear/c", "embedding/a",
                                 "embedding/b", "embedding/c", "dense_0/kernel", "dense_0/bias",
                                 "logits/kernel", "logits/bias"));
  EXPECT_THAT(model->variables()[7].shape(), ElementsAre(9, 6));
}

TEST_F(DeepFmTest, WithoutHiddenUnits_TheLogitIsTheSumOfTheProductsOfPairs) {
  SetHiddenUnits({});
  const std::unique_ptr<Model> model = Create();
  Batch batch;
  AddRecord({0, 1, 2}, 1, batch);
  const BatchPlan plan = model->Plan(batch);
  Parameters values = InMemoryStore(model->variables()).Pull(plan);
  values.rows[3] = {1, 2, 0.5};
  values.rows[4] = {-1, 1, 2};
  values.rows[5] = {0.5, 0, -1};
  // <a, b> + <a, c> + <b, c> = 2 + 0 - 2.5, the linear part is zeros.
  EXPECT_NEAR(model->Predict(batch, plan, values)[0], 1 / (1 + std::exp(0.5)), 1e-6);
  values.rows[5] = {0, 0, 0};
  EXPECT_NEAR(model->Predict(batch, plan, values)[0], 1 / (1 + std::exp(-2.0)), 1e-6);
}

double TrainedLoss(const Model& model, const Batch& batch, double* first) {
  const BatchPlan plan = model.Plan(batch);
  InMemoryStore store(model.variables());
  Parameters gradients;
  *first = model.Step(batch, plan, store.Pull(plan), &gradients).loss;
  for (int i = 0; i < 300; ++i) {
    model.Step(batch, plan, store.Pull(plan), &gradients);
    store.Push(plan, gradients);
  }
  return model.Step(batch, plan, store.Pull(plan), &gradients).loss;
}

TEST_F(DeepFmTest, WhenOnlyPairsTell_TheLossFallsAndIsFarBelowTheLinearPartAlone) {
  // The label is whether a and b are both even or both odd: neither says anything by itself.
  Batch batch;
  for (std::uint64_t a = 0; a < 4; ++a) {
    for (std::uint64_t b = 0; b < 4; ++b) AddRecord({a, b, 0}, (a + b) % 2 == 0 ? 1 : 0, batch);
  }
  double first = 0;
  for (const auto& hidden_units : {std::initializer_list<int>{}, {8}}) {
    SetHiddenUnits(hidden_units);
    const double trained = TrainedLoss(*Create(), batch, &first);
    EXPECT_LT(trained, first / 4) << hidden_units.size() << " hidden layers";
  }
  for (Feature& feature : *training_.mutable_features()) feature.clear_embedding_dimension();
  training_.mutable_model()->mutable_wide_and_deep();
  EXPECT_GT(TrainedLoss(*Create(), batch, &first), 0.99 * std::log(2.0)) << "the linear part alone";
}

TEST_F(DeepFmTest, WhenTheDeclarationDoesNotFit_NamesFeatureReasonAndWayOut) {
  SetHiddenUnits({4});
  training_.mutable_features(2)->set_embedding_dimension(5);
  EXPECT_EQ(Error(),
            "feature c: embeddingDimension is 5, that of a 3; deepFm multiplies embeddings with "
            "each other, so give all of them one dimension");
  training_.mutable_features(2)->set_embedding_dimension(0);
  EXPECT_EQ(Create()->variables().size(), 10U) << "c enters the linear part alone";
  for (Feature& feature : *training_.mutable_features()) feature.clear_embedding_dimension();
  EXPECT_EQ(Error(),
            "training.features: deepFm needs a feature with an embedding; set embeddingDimension");
}

}  // namespace
}  // namespace pstrain
