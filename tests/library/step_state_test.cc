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

const VariableRef kCount{"count"}, kWeights{"weights"}, kOther{"other"}, kTable{"table"};

/// Values of three variables and of two rows for each row of a table, and what was asked for.
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
    for (const RowAccess& request : access.requests) {
      asked_rows.push_back(request.rows);
      std::vector<float> rows;
      for (const std::uint64_t row : request.rows) {
        const auto first = static_cast<float>(10 * row);
        // Of `weights`, whose rows have one element, those of all[1].
        if (request.variable == 1) rows.push_back(static_cast<float>(row + 1));
        if (request.variable == 3) rows.insert(rows.end(), {first, first + 1});
      }
      values.rows.push_back(std::move(rows));
    }
    return values;
  }
  std::vector<std::vector<VariableId>> asked;
  std::vector<std::vector<std::uint64_t>> asked_rows;
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
                                    {"other", {2, DType::kFloat32, Shape{}, 1, true}},
                                    {"table", {3, DType::kFloat32, Shape{9, 2}, 18, true, true}}};
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

Tensor Ids(std::vector<std::int64_t> ids) { return Tensor::From(std::move(ids)); }
Tensor Rows(std::int64_t rows, std::vector<float> values) {
  return *Tensor::From(Shape{rows, 2}, std::move(values));
}

TEST_F(StepStateTest, WhenRowsAreLookedUp_EachIsAskedForOnceAndTheyComeInTheOrderOfTheIds) {
  const ClosureOutcome outcome = Run([](Step& step) -> Status {
    const Tensor ids = *Tensor::From(Shape{2, 2}, std::vector<std::int32_t>{7, 0, 7, 3});
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor rows, step.Lookup(kTable, ids));
    EXPECT_EQ(rows,
              *Tensor::From(Shape{2, 2, 2}, std::vector<float>{70, 71, 0, 1, 70, 71, 30, 31}));
    PSTRAIN_ASSIGN_OR_RETURN(const auto both,
                             step.Lookup({{kWeights, Ids({1, 0, 1})}, {kTable, Ids({})}}));
    EXPECT_EQ(both[0], Tensor::From(std::vector<float>{2, 1, 2}));
    EXPECT_EQ(both[1].shape(), (Shape{0, 2}));
    EXPECT_TRUE(step.Lookup(kTable, Ids({})).ok());
    return OkStatus();
  });
  EXPECT_EQ(outcome.status, OkStatus());
  EXPECT_EQ(reads_.asked_rows, (std::vector<std::vector<std::uint64_t>>{{0, 3, 7}, {0, 1}, {}}));
  EXPECT_TRUE(outcome.access.requests.empty()) << "what it only reads it does not change";
}

TEST_F(StepStateTest, WhenRowsAreChanged_IdsThatAreTheSameAreSummed) {
  const ClosureOutcome outcome = Run([](Step& step) -> Status {
    step.Gradient(kTable, {Ids({5, 2, 5}), Rows(3, {1, 2, 3, 4, 5, 6})});
    step.Assign(kTable, {Ids({4, 4}), Rows(2, {1, 2, 3, 4})});
    step.Add(kWeights, {Ids({1, 1}), Tensor::From(std::vector<float>{8, 9})});
    step.Add(kTable, {Ids({}), Rows(0, {})});
    return OkStatus();
  });
  ASSERT_EQ(outcome.status, OkStatus());
  ASSERT_EQ(outcome.access.requests.size(), 3U);
  EXPECT_EQ(outcome.access.requests[0].rows, (std::vector<std::uint64_t>{2, 5}));
  EXPECT_EQ(outcome.access.requests[2].variable, 1U);
  ASSERT_EQ(outcome.updates.rows.size(), 3U);
  const std::vector<float> expected[] = {{3, 4, 6, 8}, {3, 4}, {17}};
  const UpdateOp ops[] = {UpdateOp::kGradient, UpdateOp::kAssign, UpdateOp::kAdd};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outcome.updates.rows[i].request, i);
    EXPECT_EQ(outcome.updates.rows[i].op, ops[i]);
    EXPECT_EQ(outcome.updates.rows[i].values.of<float>(), expected[i]);
  }
}

TEST_F(StepStateTest, WhenItHasChangedRows_ItReadsWhatItMadeOfThem) {
  const ClosureOutcome outcome = Run([](Step& step) -> Status {
    step.Gradient(kTable, {Ids({5}), Rows(1, {1, 1})});
    step.Add(kTable, {Ids({6, 7}), Rows(2, {1, 1, 2, 2})});
    EXPECT_EQ(*step.Lookup(kTable, Ids({7, 6, 1})), Rows(3, {72, 73, 61, 62, 10, 11}));
    EXPECT_EQ(step.Lookup(kTable, Ids({6, 5})).status().code(), StatusCode::kFailedPrecondition);
    step.Assign(kTable, {Ids({5}), Rows(1, {8, 9})});
    EXPECT_EQ(*step.Lookup(kTable, Ids({5})), Rows(1, {8, 9}));
    step.Add(kWeights, Tensor::From(std::vector<float>{1, 1}));
    step.Add(kWeights, {Ids({1}), Tensor::From(std::vector<float>{5})});
    EXPECT_EQ(*step.Read(kWeights), Tensor::From(std::vector<float>{2, 8}));
    EXPECT_EQ(*step.Lookup(kWeights, Ids({1, 0})), Tensor::From(std::vector<float>{8, 2}));
    step.Gradient(kWeights, {Ids({0}), Tensor::From(std::vector<float>{5})});
    EXPECT_EQ(step.Read(kWeights).status().code(), StatusCode::kFailedPrecondition);
    return OkStatus();
  });
  EXPECT_EQ(outcome.status, OkStatus());
}

TEST_F(StepStateTest, WhenRowsDoNotFit_TheErrorSaysWhy) {
  const std::pair<std::function<Status(Step&)>, std::pair<StatusCode, const char*>> cases[] = {
      {[](Step& step) { return step.Lookup(kTable, Ids({0, 9})).status(); },
       {StatusCode::kOutOfRange, "variable table: ids[1] = 9 is not in [0, 9)"}},
      {[](Step& step) { return step.Lookup(kTable, Ids({-1})).status(); },
       {StatusCode::kOutOfRange, "ids[0] = -1 is not in [0, 9)"}},
      {[](Step& step) { return step.Lookup(kTable, Tensor(1.0F)).status(); },
       {StatusCode::kInvalidArgument, "int32 or int64"}},
      {[](Step& step) { return step.Lookup(kOther, Ids({0})).status(); },
       {StatusCode::kInvalidArgument, "is a scalar"}},
      {[](Step& step) { return step.Lookup({"unknown"}, Ids({0})).status(); },
       {StatusCode::kNotFound, "no variable unknown"}},
      {[](Step& step) { return step.Read(kTable).status(); },
       {StatusCode::kInvalidArgument, "cannot be read whole"}},
      {[](Step& step) -> Status {
         step.Gradient(kTable, Rows(9, std::vector<float>(18)));
         return OkStatus();
       },
       {StatusCode::kInvalidArgument, "IndexedSlices"}},
      {[](Step& step) -> Status {
         step.Gradient(kTable, {Ids({1}), Rows(2, {1, 2, 3, 4})});
         return OkStatus();
       },
       {StatusCode::kInvalidArgument, "rows of variable table, which are float32 (1, 2)"}},
      {[](Step& step) -> Status {
         step.Add(kTable, {Ids({1}), Rows(1, {std::numeric_limits<float>::infinity(), 1})});
         return OkStatus();
       },
       {StatusCode::kOutOfRange, "infinite or not a number"}},
      {[](Step& step) -> Status {
         step.Add(kWeights, {Ids({1}), Tensor::From(std::vector<float>{5})});
         step.Assign(kWeights, Tensor::From(std::vector<float>{5, 5}));
         return OkStatus();
       },
       {StatusCode::kFailedPrecondition, "before its rows"}},
      {[](Step& step) -> Status {
         step.Gradient(kCount, {Ids({1}), Ids({1})});
         return OkStatus();
       },
       {StatusCode::kInvalidArgument, "is a scalar"}}};
  for (const auto& [function, expected] : cases) {
    const Status status = Run(function).status;
    EXPECT_EQ(status.code(), expected.first) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(expected.second));
  }
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
