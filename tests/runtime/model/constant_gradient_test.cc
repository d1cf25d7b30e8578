#include "runtime/model/constant_gradient.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/os/files.h"
#include "runtime/input/batch_reader.h"
#include "tests/runtime/model/described_graph.h"
#include "tests/runtime/model/expected_constant_gradient.h"
#include "tests/runtime/model/in_memory_store.h"

namespace pstrain {
namespace {

class ConstantGradientTest : public ::testing::Test {
 protected:
  ConstantGradientTest() {
    std::ofstream file(dir_.File("a.csv"));
    for (int i = 0; i < 1000; ++i) file << i % 300 << "," << i % 2 << "\n";
    training_.set_epochs(3);
    training_.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.0078125);
    ConstantGradient* model = training_.mutable_model()->mutable_constant_gradient();
    model->set_dense_size(16);
    model->set_table_rows(32);
    model->set_table_dimension(4);
    CsvInput* csv = training_.mutable_input()->mutable_csv();
    csv->add_files(dir_.File("a.csv"));
    csv->add_columns("x");
    csv->add_columns("y");
    csv->set_delimiter(",");
    csv->set_label_column("y");
  }

  TempDir dir_;
  Training training_;
};

TEST_F(ConstantGradientTest, WhenTrainedInAnyOrder_EqualsTheClosedFormBitForBit) {
  const std::unique_ptr<Model> model = std::move(CreateModel(training_)).value();
  const auto features = *CreateFeatures(training_, *model);
  const auto index = std::make_shared<const InputIndex>(
      *BuildInputIndex(training_.input(), {64, 200, 1}, dir_.File("scratch")));
  auto reader = BatchReader::Create(training_.input(), features, index, {dir_.File("scratch")});
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  InMemoryStore store(model->variables());
  BatchPlan plan;
  for (std::uint32_t epoch = 3; epoch-- > 0;) {
    for (const std::uint32_t work_id : index->WorkIdOrder(epoch)) {
      const Result<Batch> batch = (*reader)->Read({epoch, work_id});
      ASSERT_TRUE(batch.ok());
      plan = model->Plan(*batch);
      Parameters gradients;
      model->Step(*batch, plan, store.Pull(plan), &gradients);
      store.Push(plan, gradients);
    }
  }
  const Result<ConstantGradientResult> expected =
      ExpectedConstantGradientResult(training_, dir_.File("scratch"));
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  plan.requests[0].rows.clear();
  for (std::uint64_t row = 0; row < 32; ++row) plan.requests[0].rows.push_back(row);
  const Parameters values = store.Pull(plan);
  EXPECT_EQ(values.dense[ConstantGradientModel::kDense], expected->dense);
  EXPECT_EQ(values.rows[0], expected->table);
  EXPECT_NE(expected->dense, std::vector<float>(16));
}

TEST_F(ConstantGradientTest, WhenDescribed_TheGraphSaysWhatItPredicts) {
  Batch batch;
  batch.records = 2;
  batch.fingerprints = {5, 40};
  ExpectDescribed(*std::move(CreateModel(training_)).value(), batch);
}

TEST_F(ConstantGradientTest, WhenTheClosedFormIsNotExact_Refuses) {
  training_.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.1);
  EXPECT_EQ(ExpectedConstantGradientResult(training_, dir_.path()).status().code(),
            StatusCode::kInvalidArgument);
  training_.mutable_optimizer()->mutable_adagrad();
  EXPECT_EQ(ExpectedConstantGradientResult(training_, dir_.path()).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
