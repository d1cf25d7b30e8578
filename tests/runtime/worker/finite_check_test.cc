#include "runtime/worker/finite_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/requests/routing.h"
#include "tests/runtime/worker/ps_fixture.h"

namespace pstrain {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class FiniteCheckTest : public testing::Test {
 protected:
  std::optional<std::string> OfStep(double loss) {
    outcome_.loss = loss;
    return check_.OfStep(outcome_, access_);
  }

  const StepAccess access_ = SamplePlan({3, 7, 500});
  StepOutcome outcome_{0.5, SampleGradients(access_)};
  std::vector<float>& dense_ = outcome_.updates.dense[0].values.of<float>();
  std::vector<float>& rows_ = outcome_.updates.rows[0].values.of<float>();
  StepValues values_ = Expected(SampleGradients(access_), 1);
  const FiniteCheck check_{SampleVariables(), kShards};
};

TEST_F(FiniteCheckTest, WhenAllIsFinite_SaysNothing) {
  EXPECT_FALSE(OfStep(0.5).has_value());
  EXPECT_FALSE(check_.OfValues(access_, values_, SampleMembership({"a", "b"})).has_value());
  dense_.back() = std::numeric_limits<float>::max();
  rows_.back() = std::numeric_limits<float>::denorm_min();
  EXPECT_FALSE(OfStep(0).has_value());
}

TEST_F(FiniteCheckTest, WhenTheLossOrAGradientIsNot_NamesIt) {
  EXPECT_EQ(OfStep(kNaN), "the loss");
  rows_[4] = -kInfinite;
  EXPECT_EQ(OfStep(0.5), "the gradient of variable table");
  dense_[11] = kNaN;
  EXPECT_EQ(OfStep(kInfinite), "the loss and the gradient of variable dense");
}

TEST_F(FiniteCheckTest, WhenAnotherOpOrDTypeIsNot_NamesItToo) {
  outcome_.updates.dense[0].op = UpdateOp::kAssign;
  outcome_.updates.dense[0].values = std::vector<std::int64_t>(12, -1);
  EXPECT_FALSE(OfStep(0.5).has_value()) << "integers are finite";
  outcome_.updates.dense[0].values =
      std::vector<double>(12, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(OfStep(0.5), "the assign of variable dense");
}

TEST_F(FiniteCheckTest, WhenAPulledValueIsNot_NamesVariableShardAndPs) {
  const Membership membership = SampleMembership({"a", "b"});
  values_.rows[0].of<float>()[3 + 2] = kNaN;  // of row 7
  const ShardId shard = ShardOfRow(RouteOf("table"), 7, kShards);
  EXPECT_EQ(
      check_.OfValues(access_, values_, membership),
      "variable table in shard " + std::to_string(shard) + " of ps " + std::to_string(shard % 2));
  // Row 4 of axis 0 is the first of the second partition, in shard 2.
  std::vector<float>& dense = values_.dense[kDense].of<float>();
  dense[8] = kInfinite;
  EXPECT_EQ(check_.OfValues(access_, values_, membership), "variable dense in shard 2 of ps 0");
  dense[7] = kInfinite;
  EXPECT_EQ(check_.OfValues(access_, values_, membership), "variable dense in shard 1 of ps 1");
}

}  // namespace
}  // namespace pstrain
