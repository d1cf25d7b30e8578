#include "runtime/model/export/trained_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/os/files.h"
#include "tests/runtime/model/export/trained_checkpoint.h"

namespace pstrain {
namespace {

using export_test::SmallTraining;
using export_test::Value;
using export_test::WriteTrained;

class TrainedModelTest : public testing::Test {
 protected:
  Result<TrainedModel> Open(const Training& training) {
    return TrainedModel::Open(WriteTrained(dir_.path(), training), training);
  }
  static std::vector<float> ReadAll(TrainedModel& model, const std::string& name,
                                    std::size_t* parts = nullptr) {
    std::vector<float> all;
    for (const VariableSpec& variable : model.model().variables()) {
      if (variable.name() != name) continue;
      const Status read = model.Read(variable, [&](std::span<const float> part) {
        all.insert(all.end(), part.begin(), part.end());
        if (parts != nullptr) ++*parts;
        return OkStatus();
      });
      EXPECT_TRUE(read.ok()) << read.ToString();
      if (variable.kind() == VariableSpec::EMBEDDING) {
        EXPECT_EQ(*model.HeldRows(variable), (variable.shape(0) + 1) / 2);
      }
    }
    return all;
  }

  TempDir dir_;
};

TEST_F(TrainedModelTest, Read_GivesDenseVariablesWholeAndUntrainedRowsTheirInitialValues) {
  Result<TrainedModel> model = Open(SmallTraining());
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_THAT(ReadAll(*model, "linear/bias"), testing::ElementsAre(Value(0, 0)));
  // Rows 0 and 2 are in the checkpoint, and row 1 of a linear table starts as zero.
  EXPECT_THAT(ReadAll(*model, "linear/city"), testing::ElementsAre(Value(2, 0), 0, Value(2, 2)));
  const std::vector<float> embedding = ReadAll(*model, "embedding/city");
  ASSERT_EQ(embedding.size(), 6U);
  EXPECT_EQ(embedding[1], Value(3, 1));
  EXPECT_EQ(embedding[4], Value(3, 4));
  const std::vector<std::uint64_t> untrained = {1};
  auto reader = CheckpointReader::Open(CheckpointDirectory(dir_.path(), {1, 3}));
  EXPECT_EQ(std::vector<float>(embedding.begin() + 2, embedding.begin() + 4),
            *reader->Rows("embedding/city", untrained));
}

TEST_F(TrainedModelTest, Read_GivesALargeTableInParts) {
  Training training = SmallTraining();
  training.mutable_features(1)->mutable_hashed()->set_buckets(300000);
  Result<TrainedModel> model = Open(training);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  std::size_t parts = 0;
  const std::vector<float> linear = ReadAll(*model, "linear/city", &parts);
  EXPECT_EQ(parts, 2U);
  ASSERT_EQ(linear.size(), 300000U);
  for (const std::size_t row : {0UL, 262142UL, 262144UL, 299998UL}) {
    EXPECT_EQ(linear[row], Value(2, row)) << row;
    EXPECT_EQ(linear[row + 1], 0) << row;
  }
}

TEST_F(TrainedModelTest, Bytes_OfMoreThanANumberHolds_AreTheGreatest) {
  const Result<TrainedModel> model = Open(SmallTraining());
  ASSERT_TRUE(model.ok());
  // bias, numeric, 3 rows, 3 x 2, kernel 3 x 1, bias, logits kernel and bias
  EXPECT_EQ(model->bytes(), 4U * (1 + 1 + 3 + 6 + 3 + 1 + 1 + 1));
  VariableSpec huge;
  huge.add_shape(std::int64_t{1} << 61);
  huge.add_shape(4);
  EXPECT_EQ(TrainedModel::BytesOf(huge), std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace pstrain
