#include "library/step_runner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "library/data/iterator_state.h"
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
    functions_.Add("Next", {"iterator",
                            [](Step&, const std::vector<Argument>& arguments) -> Result<Values> {
                              Iterator input = std::get<Iterator>(arguments[0]);
                              PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> next,
                                                       input.Next());
                              return next.Get(0);
                            },
                            "here"});
    datasets_.Add(
        "Tens", [](const InputContext&) -> Result<Dataset> { return Dataset::Range(0, 90, 10); },
        "here");
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
  DatasetRegistry datasets_;
  StepRunner runner_{functions_, 0, datasets_};
};

TEST_F(StepRunnerTest, WhenAFunctionIsCalled_ItsResultAndChangesComeBack) {
  EXPECT_EQ(Run({"Set", "tensor", {Tensor(2.0F)}}).status.code(), StatusCode::kNotFound)
      << "the variable is not declared yet";
  ASSERT_EQ(runner_.Declared({Spec()}), OkStatus());
  const ClosureOutcome outcome = Run({"Set", "tensor", {Tensor(2.0F)}});
  ASSERT_EQ(outcome.status, OkStatus());
  EXPECT_EQ(DecodeResult(outcome.result)->values, (Values{{"is", Tensor(2.0F)}}));
  ASSERT_EQ(outcome.updates.dense.size(), 1U);
  EXPECT_EQ(outcome.updates.dense[0].values.of<float>(), std::vector<float>{2});
}

TEST_F(StepRunnerTest, WhenTheCallIsNotOfThisProgram_ItSaysSo) {
  EXPECT_EQ(Run({"Get", "", {}}).status.code(), StatusCode::kNotFound);
  EXPECT_EQ(Run({"Set", "values", {Values()}}).status.code(), StatusCode::kInvalidArgument);
  NoReads reads;
  EXPECT_EQ(runner_.Run("\x0a\xff", reads).status.code(), StatusCode::kInvalidArgument);
}

TEST_F(StepRunnerTest, WhenAFunctionReads_ItGetsTheElementsOfItsCall) {
  const Iterator fourth = BoundTo({.dataset = "Tens", .first = 4, .size = 9}, nullptr);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const ClosureOutcome outcome = Run({"Next", "iterator", {fourth}});
    ASSERT_EQ(outcome.status, OkStatus());
    EXPECT_EQ(DecodeResult(outcome.result)->values, (Values{{"value", std::int64_t{40}}}));
  }
  const Iterator other = BoundTo({.dataset = "Tens", .first = 4, .size = 8}, nullptr);
  EXPECT_EQ(Run({"Next", "iterator", {other}}).status.code(), StatusCode::kFailedPrecondition);
  const Iterator none = BoundTo({.dataset = "Absent"}, nullptr);
  EXPECT_EQ(Run({"Next", "iterator", {none}}).status.code(), StatusCode::kNotFound);
}

TEST_F(StepRunnerTest, WhenAFunctionIsAtomic_WhatItComesToSaysSo) {
  const auto nothing = [](Step&, const std::vector<Argument>&) { return Result<Values>(Values()); };
  functions_.Add("Atomic", {"", nothing, "here", {.atomic = true}});
  EXPECT_TRUE(Run({"Atomic", "", {}}).atomic);
  EXPECT_FALSE(Run({"Set", "tensor", {Tensor(2.0F)}}).atomic);
}

TEST_F(StepRunnerTest, WhenAFunctionFails_TheErrorNamesIt) {
  const Status error = Run({"Set", "tensor", {Tensor(2.0F)}}).status;
  EXPECT_TRUE(error.message().starts_with("Set: ")) << error.ToString();
}

}  // namespace
}  // namespace pstrain::program
