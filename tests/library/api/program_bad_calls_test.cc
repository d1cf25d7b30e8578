// Calls that cannot be: each is the error of its RemoteValue and of one Join, changes nothing, and
// the program goes on.
#include <gmock/gmock.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

/// Each adds to the count first: nothing of that is to be left.
Result<Values> DoWrong(Step& step, const std::string& how) {
  step.Add(kCount, std::int64_t{1'000});
  if (how == "throws") throw std::runtime_error("no such file");
  if (how == "throws what is no exception") throw 7;
  if (how == "assigns another shape") {
    step.Assign(kCount, Tensor::From(std::vector<std::int64_t>{1, 2}));
  }
  if (how == "adds another dtype") step.Add(kCount, Tensor(1.0F));
  if (how == "pushes to what is not there") step.Gradient({"absent"}, Tensor(1.0F));
  if (how == "reads what is not there") return step.Read({"absent"}).status();
  if (how == "pushes to what has no optimizer") step.Gradient(kCount, std::int64_t{1});
  return Values();
}
const Function kDoWrong{"DoWrong", DoWrong};

class BadCallsTest : public CoordinatorFixture {};

TEST_F(BadCallsTest, WhatAFunctionDoesWrong_IsItsErrorAndChangesNothing) {
  struct Wrong {
    const char* how;
    StatusCode code;
    const char* says;
  };
  Start();
  std::int64_t right = 0;
  for (const Wrong& wrong : std::vector<Wrong>{
           {"throws", StatusCode::kInternal, "no such file"},
           {"throws what is no exception", StatusCode::kInternal, "DoWrong"},
           {"assigns another shape", StatusCode::kInvalidArgument,
            "int64 (2) for variable count, which is int64 ()"},
           {"adds another dtype", StatusCode::kInvalidArgument,
            "float32 () for variable count, which is int64 ()"},
           {"pushes to what is not there", StatusCode::kNotFound, "no variable absent"},
           {"reads what is not there", StatusCode::kNotFound, "no variable absent"},
           {"pushes to what has no optimizer", StatusCode::kInvalidArgument,
            "count, which has no optimizer"}}) {
    SCOPED_TRACE(wrong.how);
    const RemoteValue value = Schedule(kDoWrong, std::string(wrong.how));
    const Status error = ErrorOf(value);
    EXPECT_EQ(error.code(), wrong.code) << error.ToString();
    EXPECT_THAT(error.message(), HasSubstr(wrong.says));
    EXPECT_THAT(error.message(), HasSubstr("DoWrong"));
    EXPECT_EQ(coordinator().Join(kSoon), error);
    Schedule(kAdd, ++right);
    EXPECT_EQ(Count(), right * (right + 1) / 2);
  }
  EXPECT_TRUE(coordinator().Finish().ok());
}

TEST_F(BadCallsTest, FromAnotherThread_ScheduleAndAssignAreRefused) {
  Start();
  Schedule(kAdd, 1);
  Status scheduled;
  Status assigned;
  std::thread([&] {
    scheduled = coordinator().Schedule(kAdd, 2).status();
    const auto scope = strategy_->Scope();
    auto count =
        Variable::Create(kCount, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64);
    assigned = count.ok() ? count->Assign(Tensor(std::int64_t{5}), kSoon) : count.status();
  }).join();
  for (const Status& status : {scheduled, assigned}) {
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("another thread has scheduled before"));
  }
  EXPECT_EQ(Count(), 1);
}

TEST_F(BadCallsTest, BeforeRestoreOrInitialize_ScheduleAndAssignAreRefused) {
  Start();
  auto manager = CheckpointManager::Create(coordinator());
  ASSERT_TRUE(manager.ok()) << manager.status().ToString();
  const auto scope = strategy_->Scope();
  auto count =
      Variable::Create(kCount, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64);
  ASSERT_TRUE(count.ok()) << "a declaration takes no id";
  for (const Status& status :
       {coordinator().Schedule(kAdd, 1).status(), count->Assign(Tensor(std::int64_t{5}), kSoon)}) {
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("call CheckpointManager::RestoreOrInitialize before"));
  }
  ASSERT_TRUE(manager->RestoreOrInitialize().ok());
  Schedule(kAdd, 3);
  EXPECT_EQ(Count(), 3);
}

}  // namespace
}  // namespace pstrain
