#include "library/step_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pstrain::program {
namespace {

using ::testing::HasSubstr;

const VariableRef kCount{"count"}, kWeights{"weights"}, kOther{"other"};

/// Values of three variables, and what was asked for.
class FakeReads final : public ClosureReads {
 public:
  Result<StepValues> Read(const StepAccess& access) override {
    asked.push_back(access.dense);
    if (!error.ok()) return error;
    StepValues values;
    const ValueArray all[] = {ValueArray(std::vector<std::int64_t>{10}),
                              ValueArray(std::vector<float>{1, 2}),
                              ValueArray(std::vector<float>{7})};
    for (const VariableId id : access.dense) values.dense.push_back(all[id]);
    return values;
  }
  std::vector<std::vector<VariableId>> asked;
  Status error;
};

class StepStateTest : public testing::Test {
 protected:
  /// What the function comes to with a state of its own.
  ClosureOutcome Run(const std::function<Status(Step&)>& function) {
    StepState state(variables_, reads_, 3);
    return state.Run(
        [&function](Step& step, const std::vector<Argument>&) -> Result<Values> {
          PSTRAIN_RETURN_IF_ERROR(function(step));
          return Values();
        },
        {});
  }

  const VariableTable variables_ = {{"count", {0, DType::kInt64, Shape{}, 1, false}},
                                    {"weights", {1, DType::kFloat32, Shape{2}, 2, true}},
                                    {"other", {2, DType::kFloat32, Shape{}, 1, true}}};
  FakeReads reads_;
};

TEST_F(StepStateTest, WhenSeveralAreRead_TheyComeInOneCallAndInTheOrderOfTheNames) {
  const ClosureOutcome outcome = Run([](Step& step) -> Status {
    PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kOther, kCount, kOther));
    EXPECT_EQ(read[0], Tensor(7.0F));
    EXPECT_EQ(read[1], Tensor(std::int64_t{10}));
    EXPECT_EQ(read[2], Tensor(7.0F));
    EXPECT_EQ(step.worker_index(), 3);
    return OkStatus();
  });
  EXPECT_EQ(outcome.status, OkStatus());
  EXPECT_EQ(reads_.asked, (std::vector<std::vector<VariableId>>{{0, 2}}));
  EXPECT_TRUE(outcome.updates.dense.empty());
}

TEST_F(StepStateTest, WhenItHasChangedAVariable_ItReadsWhatItMadeOfIt) {
  const ClosureOutcome outcome = Run([this](Step& step) -> Status {
    step.Add(kCount, std::numeric_limits<std::int64_t>::max());
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor added, step.Read(kCount));
    EXPECT_EQ(added, Tensor(std::numeric_limits<std::int64_t>::min() + 9)) << "it wraps around";
    step.Assign(kCount, std::int64_t{4});
    step.Add(kCount, std::int64_t{1});
    step.Add(kCount, std::int64_t{2});
    const std::size_t asked = reads_.asked.size();
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor assigned, step.Read(kCount));
    EXPECT_EQ(assigned, Tensor(std::int64_t{7}));
    EXPECT_EQ(reads_.asked.size(), asked) << "nobody has to be asked";
    return OkStatus();
  });
  EXPECT_EQ(outcome.status, OkStatus());
  const UpdateOp ops[] = {UpdateOp::kAdd, UpdateOp::kAssign, UpdateOp::kAdd, UpdateOp::kAdd};
  ASSERT_EQ(outcome.updates.dense.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(outcome.updates.dense[i].op, ops[i]);
  EXPECT_EQ(outcome.updates.dense[1].values.of<std::int64_t>(), std::vector<std::int64_t>{4});
}

TEST_F(StepStateTest, WhenAGradientCameLast_TheVariableCannotBeRead) {
  const ClosureOutcome outcome = Run([](Step& step) -> Status {
    step.Gradient(kOther, Tensor(1.0F));
    EXPECT_EQ(step.Read(kOther).status().code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(step.Read(kCount, kOther).status().code(), StatusCode::kFailedPrecondition);
    EXPECT_TRUE(step.Read(kWeights).ok());
    step.Assign(kOther, Tensor(3.0F));
    EXPECT_EQ(*step.Read(kOther), Tensor(3.0F));
    return OkStatus();
  });
  EXPECT_EQ(outcome.status, OkStatus());
}

TEST_F(StepStateTest, WhenAChangeDoesNotFit_TheFirstErrorIsTheFunctions) {
  const ClosureOutcome outcome = Run([](Step& step) -> Status {
    step.Add(kCount, std::int64_t{1});
    step.Gradient(kCount, std::int64_t{1});
    step.Assign({"unknown"}, Tensor(1.0F));
    return OkStatus();
  });
  EXPECT_EQ(outcome.status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(outcome.status.message(), HasSubstr("count, which has no optimizer"));
  EXPECT_TRUE(outcome.updates.dense.empty()) << "it changes nothing";
  const ClosureOutcome shape = Run([](Step& step) -> Status {
    step.Assign(kWeights, Tensor(1.0F));
    return OkStatus();
  });
  EXPECT_EQ(shape.status.code(), StatusCode::kInvalidArgument);
  const ClosureOutcome infinite = Run([](Step& step) -> Status {
    step.Assign(kOther, Tensor(std::numeric_limits<float>::quiet_NaN()));
    return OkStatus();
  });
  EXPECT_EQ(infinite.status.code(), StatusCode::kOutOfRange);
}

TEST_F(StepStateTest, WhenTheFunctionThrows_ItIsInternalWithItsText) {
  const ClosureOutcome outcome = Run([](Step&) -> Status { throw std::out_of_range("too far"); });
  EXPECT_EQ(outcome.status.code(), StatusCode::kInternal);
  EXPECT_THAT(outcome.status.message(), HasSubstr("too far"));
  const ClosureOutcome number = Run([](Step&) -> Status { throw 7; });
  EXPECT_EQ(number.status.code(), StatusCode::kInternal);
}

TEST_F(StepStateTest, WhenAReadFails_ThatIsTheFunctionsToReturn) {
  reads_.error = CancelledError("given up");
  const ClosureOutcome outcome = Run([](Step& step) { return step.Read(kOther).status(); });
  EXPECT_EQ(outcome.status, CancelledError("given up"));
}

}  // namespace
}  // namespace pstrain::program
