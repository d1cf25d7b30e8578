#include "library/step_runner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "library/payload.h"

namespace pstrain::program {
namespace {

class NoReads final : public ClosureReads {
 public:
  Result<StepValues> Read(const StepAccess&) override { return UnavailableError("nobody"); }
};

class StepRunnerTest : public testing::Test {
 protected:
  StepRunnerTest() {
    functions_.Add("Set",
                   {"tensor",
                    [](Step& step, const std::vector<Argument>& arguments) -> Result<Values> {
                      step.Assign({"v"}, std::get<Tensor>(arguments[0]));
                      return Values{{"is", std::get<Tensor>(arguments[0])}};
                    },
                    "here"});
  }
  ClosureOutcome Run(const Call& call) {
    NoReads reads;
    return runner_.Run(EncodeCall(call), reads);
  }
  static VariableSpec Spec() {
    VariableSpec spec;
    spec.set_id(0);
    spec.set_name("v");
    spec.set_kind(VariableSpec::DENSE);
    return spec;
  }

  FunctionRegistry functions_;
  StepRunner runner_{functions_, 0};
};

TEST_F(StepRunnerTest, WhenAFunctionIsCalled_ItsResultAndChangesComeBack) {
  EXPECT_EQ(Run({"Set", "tensor", {Tensor(2.0F)}}).status.code(), StatusCode::kNotFound)
      << "the variable is not declared yet";
  ASSERT_EQ(runner_.Declared({Spec()}), OkStatus());
  const ClosureOutcome outcome = Run({"Set", "tensor", {Tensor(2.0F)}});
  ASSERT_EQ(outcome.status, OkStatus());
  EXPECT_EQ(*DecodeValues(outcome.result), (Values{{"is", Tensor(2.0F)}}));
  ASSERT_EQ(outcome.updates.dense.size(), 1U);
  EXPECT_EQ(outcome.updates.dense[0].values.of<float>(), std::vector<float>{2});
}

TEST_F(StepRunnerTest, WhenTheCallIsNotOfThisProgram_ItSaysSo) {
  EXPECT_EQ(Run({"Get", "", {}}).status.code(), StatusCode::kNotFound);
  EXPECT_EQ(Run({"Set", "values", {Values()}}).status.code(), StatusCode::kInvalidArgument);
  NoReads reads;
  EXPECT_EQ(runner_.Run("\x0a\xff", reads).status.code(), StatusCode::kInvalidArgument);
}

TEST_F(StepRunnerTest, WhenAFunctionFails_TheErrorNamesIt) {
  const Status error = Run({"Set", "tensor", {Tensor(2.0F)}}).status;
  EXPECT_TRUE(error.message().starts_with("Set: ")) << error.ToString();
}

}  // namespace
}  // namespace pstrain::program
