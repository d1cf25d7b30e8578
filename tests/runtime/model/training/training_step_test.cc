#include "runtime/model/training/training_step.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "runtime/cluster/permanent_failure.h"
#include "runtime/model/training/training_input.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

constexpr WorkId kWorkId{0, 0};

/// One batch of three records of four; the fourth is bad.
class OneBatch final : public BatchReader {
 public:
  Result<Batch> Read(WorkId) override {
    Batch batch;
    batch.records = 3;
    batch.skipped = 1;
    batch.labels = {0, 1, 1};
    return batch;
  }
  std::uint64_t blocks_decoded() const override { return 1; }
};

/// Reads all of variable 0 and rows 5 and 7 of table 1; the gradients are twice what it reads.
class DoublingModel final : public Model {
 public:
  const std::vector<VariableSpec>& variables() const override { return variables_; }
  BatchPlan Plan(const Batch&) const override {
    BatchPlan plan;
    plan.dense = {0};
    plan.requests = {{1, {5, 7}}};
    return plan;
  }
  StepResult Step(const Batch& batch, const BatchPlan&, const Parameters& values,
                  Parameters* gradients) const override {
    gradients->dense = {{}, {}};
    for (const float value : values.dense[0]) gradients->dense[0].push_back(2 * value);
    gradients->rows = {{}};
    for (const float value : values.rows[0]) gradients->rows[0].push_back(2 * value);
    return {0.5, batch.records};
  }
  std::vector<float> Predict(const Batch&, const BatchPlan&, const Parameters&) const override {
    return {};
  }
  ModelGraph::Tensor Describe(ModelGraph& graph) const override { return graph.Zeros(); }

 private:
  const std::vector<VariableSpec> variables_;
};

InputIndex SmallIndex() {
  IndexedFile file;
  file.path = "data.csv";
  file.records = 100;
  return InputIndex({.batch_size = 8, .block_size = 64, .seed = 1}, "csv", {}, {file});
}

TEST(TrainingStep, PutsAModelBetweenAccessAndUpdates) {
  TrainingStep step(std::make_unique<OneBatch>(), std::make_shared<DoublingModel>(),
                    std::make_shared<const InputIndex>(SmallIndex()));
  const Result<PreparedWork> work = step.Prepare(kWorkId);
  ASSERT_TRUE(work.ok()) << work.status().ToString();
  EXPECT_EQ(work->records, 8U) << "as the index has it";
  EXPECT_EQ(work->skipped, 1U);
  EXPECT_EQ(work->access.dense, std::vector<VariableId>{0});
  ASSERT_EQ(work->access.requests.size(), 1U);
  EXPECT_EQ(work->access.requests[0].variable, 1U);
  EXPECT_EQ(work->access.requests[0].rows, (std::vector<std::uint64_t>{5, 7}));

  StepValues values;
  values.dense = {std::vector<float>{1, 2}};
  values.rows = {std::vector<float>{3, 4}};
  const StepOutcome outcome = step.Compute(*work, values);
  EXPECT_EQ(outcome.loss, 0.5);
  ASSERT_EQ(outcome.updates.dense.size(), 1U) << "a table has no dense update";
  EXPECT_EQ(outcome.updates.dense[0].variable, 0U);
  EXPECT_EQ(outcome.updates.dense[0].op, UpdateOp::kGradient);
  EXPECT_EQ(outcome.updates.dense[0].values, ValueArray(std::vector<float>{2, 4}));
  ASSERT_EQ(outcome.updates.rows.size(), 1U);
  EXPECT_EQ(outcome.updates.rows[0].request, 0U);
  EXPECT_EQ(outcome.updates.rows[0].values, ValueArray(std::vector<float>{6, 8}));
  // They are looked at again when the outcome is not finite.
  EXPECT_EQ(values.dense[0], ValueArray(std::vector<float>{1, 2}));
  EXPECT_EQ(values.rows[0], ValueArray(std::vector<float>{3, 4}));
}

class CreateTrainingStepTest : public testing::Test {
 protected:
  CreateTrainingStepTest() {
    WriteTestFile(input_, "30,cook,yes\n31,clerk,no\n");
    training_.mutable_model()->mutable_constant_gradient();
    settings_.checkpoint_directory = dir_.path();
  }
  Status Create() const {
    const RoleContext context{.job = settings_,
                              .run_id = "run",
                              .scratch = dir_.File("scratch"),
                              .stats = *stats_,
                              .fail_points = FailPoints::None()};
    return CreateTrainingStep(training_, context, [](std::chrono::nanoseconds) { return false; })
        .status();
  }
  void WriteIndex() const {
    const ChiefJob::Place place{JoinPath(dir_.File("run"), "index"), dir_.File("scratch"), ""};
    ASSERT_TRUE(CreateDirectories(dir_.File("run")).ok());
    const auto index = OpenIndex(training_, place);
    ASSERT_TRUE(index.ok()) << index.status().ToString();
  }

  TempDir dir_;
  const std::string input_ = dir_.File("a.csv");
  Training training_ = SmallTraining(input_);
  JobSettings settings_;
  const std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
};

TEST_F(CreateTrainingStepTest, WhenTheIndexIsAway_TheInputIsNotToBlame) {
  const Status status = Create();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
  EXPECT_FALSE(IsInvalidInput(status));
  WriteIndex();
  EXPECT_EQ(Create(), OkStatus());
}

TEST_F(CreateTrainingStepTest, WhenAColumnIsNotThere_TheInputIsToBlame) {
  WriteIndex();
  training_.mutable_features(0)->set_name("height");
  const Status status = Create();
  EXPECT_TRUE(IsInvalidInput(status)) << status.ToString();
  EXPECT_NE(status.message().find("height"), std::string::npos) << status.ToString();
}

TEST(DescribeBatch, NamesTheRecordsOfItsBlock) {
  const InputIndex index = SmallIndex();
  EXPECT_EQ(DescribeBatch(index, {2, 0}),
            "epoch 2, batch 0 (8 of the records 1 to 64 of data.csv)");
  EXPECT_EQ(DescribeBatch(index, {0, 12}),
            "epoch 0, batch 12 (4 of the records 65 to 100 of data.csv)");
  EXPECT_EQ(DescribeBatch(index, {0, 999}), "epoch 0, batch 999");
}

}  // namespace
}  // namespace pstrain
