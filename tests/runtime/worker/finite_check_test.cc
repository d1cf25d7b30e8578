#include "runtime/worker/finite_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "runtime/requests/routing.h"
#include "tests/runtime/worker/ps_fixture.h"

namespace pstrain {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class FiniteCheckTest : public testing::Test {
 protected:
  const BatchPlan plan_ = SamplePlan({3, 7, 500});
  Parameters parameters_ = SampleGradients(plan_);
  const FiniteCheck check_{SampleVariables(), kShards};
};

TEST_F(FiniteCheckTest, WhenAllIsFinite_SaysNothing) {
  EXPECT_FALSE(check_.OfStep({0.5, 10}, plan_, parameters_).has_value());
  EXPECT_FALSE(check_.OfValues(plan_, parameters_, SampleMembership({"a", "b"})).has_value());
  parameters_.dense[kDense].back() = std::numeric_limits<float>::max();
  parameters_.rows[0].back() = std::numeric_limits<float>::denorm_min();
  EXPECT_FALSE(check_.OfStep({0, 0}, plan_, parameters_).has_value());
}

TEST_F(FiniteCheckTest, WhenTheLossOrAGradientIsNot_NamesIt) {
  EXPECT_EQ(check_.OfStep({kNaN, 10}, plan_, parameters_), "the loss");
  parameters_.rows[0][4] = -kInfinite;
  EXPECT_EQ(check_.OfStep({0.5, 10}, plan_, parameters_), "the gradient of variable table");
  parameters_.dense[kDense][11] = kNaN;
  EXPECT_EQ(check_.OfStep({kInfinite, 10}, plan_, parameters_),
            "the loss and the gradient of variable dense");
}

TEST_F(FiniteCheckTest, WhenAPulledValueIsNot_NamesVariableShardAndPs) {
  const Membership membership = SampleMembership({"a", "b"});
  parameters_.rows[0][3 + 2] = kNaN;  // of row 7
  const ShardId shard = ShardOfRow(kTable, 7, kShards);
  EXPECT_EQ(
      check_.OfValues(plan_, parameters_, membership),
      "variable table in shard " + std::to_string(shard) + " of ps " + std::to_string(shard % 2));
  // Row 4 of axis 0 is the first of the second partition, in shard 2.
  parameters_.dense[kDense][8] = kInfinite;
  EXPECT_EQ(check_.OfValues(plan_, parameters_, membership), "variable dense in shard 2 of ps 0");
  parameters_.dense[kDense][7] = kInfinite;
  EXPECT_EQ(check_.OfValues(plan_, parameters_, membership), "variable dense in shard 1 of ps 1");
}

TEST(DescribeBatch, NamesTheRecordsOfItsBlock) {
  IndexedFile file;
  file.path = "data.csv";
  file.records = 100;
  const InputIndex index({.batch_size = 8, .block_size = 64, .seed = 1}, "csv", {}, {file});
  EXPECT_EQ(DescribeBatch(index, {2, 0}),
            "epoch 2, batch 0 (8 of the records 1 to 64 of data.csv)");
  EXPECT_EQ(DescribeBatch(index, {0, 12}),
            "epoch 0, batch 12 (4 of the records 65 to 100 of data.csv)");
  EXPECT_EQ(DescribeBatch(index, {0, 999}), "epoch 0, batch 999");
}

}  // namespace
}  // namespace pstrain
