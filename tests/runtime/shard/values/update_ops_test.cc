#include "runtime/shard/values/update_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/requests/values.h"

namespace pstrain {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <StoredElement T>
struct Outcome {
  std::vector<T> values;
  bool finite = false;
};

template <StoredElement T>
Outcome<T> Apply(UpdateOp op, std::vector<T> before, const std::vector<T>& operands) {
  ValueArray values(std::move(before));
  const bool finite = ApplyUpdate(op, kDTypeOf<T>, values.bytes().data(),
                                  ValueView(operands).bytes().data(), operands.size());
  return {values.of<T>(), finite};
}

template <typename T>
class UpdateOpsTest : public testing::Test {};
using Elements = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(UpdateOpsTest, Elements);

TYPED_TEST(UpdateOpsTest, EachOp_DoesWhatItsNameSays) {
  using Values = std::vector<TypeParam>;
  const Values before = {5, -3, 7};
  const Values operands = {6, -4, 7};
  EXPECT_EQ(Apply(UpdateOp::kAssign, before, operands).values, operands);
  EXPECT_EQ(Apply(UpdateOp::kAdd, before, operands).values, (Values{11, -7, 14}));
  EXPECT_EQ(Apply(UpdateOp::kMin, before, operands).values, (Values{5, -4, 7}));
  EXPECT_EQ(Apply(UpdateOp::kMax, before, operands).values, (Values{6, -3, 7}));
  EXPECT_TRUE(Apply(UpdateOp::kAdd, before, operands).finite);
}

TEST(UpdateOps, Add_WhenAnIntegerOverflows_WrapsAround) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Apply<std::int64_t>(UpdateOp::kAdd, {kMost, kLeast}, {1, -1}).values,
            (std::vector<std::int64_t>{kLeast, kMost}));
  EXPECT_EQ(Apply<std::int32_t>(UpdateOp::kAdd, {2'147'483'647}, {2}).values,
            std::vector<std::int32_t>{-2'147'483'647});
}

TEST(UpdateOps, WhenAnOperandIsNotANumber_ItStaysAndIsSaid) {
  for (const UpdateOp op : {UpdateOp::kAssign, UpdateOp::kAdd, UpdateOp::kMin, UpdateOp::kMax}) {
    const auto outcome = Apply<float>(op, {1, 2}, {1, kNaN});
    EXPECT_TRUE(std::isnan(outcome.values[1])) << NameOf(op);
    EXPECT_FALSE(outcome.finite) << NameOf(op);
    // A value that was not a number before does not become one by being compared.
    if (op == UpdateOp::kAssign) continue;
    EXPECT_FALSE(Apply<float>(op, {kNaN}, {1}).finite) << NameOf(op);
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_FALSE(Apply<double>(UpdateOp::kAdd, {kMost}, {kMost}).finite);
  EXPECT_TRUE(Apply<double>(UpdateOp::kMax, {kMost}, {-kMost}).finite);
}

}  // namespace
}  // namespace pstrain
