// A local program saves a mark; what its evaluator's function would see of that checkpoint.
#include "library/remote/evaluator/sidecar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const VariableRef kDivided{"divided"}, kCounts{"counts"}, kRows{"rows"};

Result<Values> Touch(Step& step) {
  step.Add(kRows, {Tensor::From(std::vector<std::int64_t>{7, 3}),
                   *Tensor::From(Shape{2, 2}, std::vector<double>{1, 2, 3, 4})});
  return Values();
}
const Function kTouch{"Touch", Touch};

std::vector<float> Numbers(int count) {
  std::vector<float> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
  return numbers;
}

/// A run with one mark, of number 4, whose checkpoint is in `folder_`.
class SidecarTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Save(), OkStatus());
    const Result<std::vector<std::string>> runs = ListDirectory(dir_.path());
    ASSERT_TRUE(runs.ok());
    for (const std::string& run : *runs) {
      const std::string checkpoints = JoinPath(JoinPath(dir_.path(), run), "checkpoints");
      const Result<std::vector<std::string>> names = ListDirectory(checkpoints);
      for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
        folder_ = JoinPath(checkpoints, name);
      }
    }
    ASSERT_FALSE(folder_.empty());
  }

  Status Save() {
    PSTRAIN_ASSIGN_OR_RETURN(
        const auto strategy,
        ParameterServerStrategy::Create(
            ClusterResolver(), {.ps = 2,
                                .variable_partitioner = partitioners::FixedShardsPartitioner(3),
                                .checkpoint_directory = dir_.path()}));
    PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
    const auto scope = strategy.Scope();
    PSTRAIN_ASSIGN_OR_RETURN(auto divided, Variable::Create(kDivided, Shape{5, 2}));
    PSTRAIN_ASSIGN_OR_RETURN(auto counts, Variable::Create(kCounts, Shape{3}, initializers::Zeros(),
                                                           optimizers::None{}, DType::kInt64));
    PSTRAIN_RETURN_IF_ERROR(EmbeddingTable::Create(kRows, Shape{1000, 2}, initializers::Zeros(),
                                                   optimizers::None{}, DType::kFloat64)
                                .status());
    PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
    PSTRAIN_RETURN_IF_ERROR(manager.RestoreOrInitialize().status());
    PSTRAIN_RETURN_IF_ERROR(divided.Assign(*Tensor::From(Shape{5, 2}, Numbers(10)), seconds(120)));
    PSTRAIN_RETURN_IF_ERROR(
        counts.Assign(Tensor::From(std::vector<std::int64_t>{5, 6, 7}), seconds(120)));
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kTouch).status());
    return manager.Save({.mark = 4, .user_bytes = "mine"});
  }

  EvaluationOutcome Evaluate(const SidecarEvaluator::Function& function) {
    return program::Sidecar(function, {}, {}).Evaluate(folder_);
  }

  const TempDir dir_;
  std::string folder_;
};

TEST_F(SidecarTest, WhatIsSaved_IsRead) {
  const auto check = [](const SavedVariables& saved) -> Result<EvaluatedMetrics> {
    EXPECT_EQ(saved.mark(), 4);
    EXPECT_EQ(saved.user_bytes(), "mine");
    EXPECT_FALSE(saved.is_final());
    EXPECT_EQ(saved.variables().size(), 3U);
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor divided, saved.Read(kDivided));
    EXPECT_EQ(divided, *Tensor::From(Shape{5, 2}, Numbers(10)));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor counts, saved.Read(kCounts));
    EXPECT_EQ(counts, Tensor::From(std::vector<std::int64_t>{5, 6, 7}));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor ids, saved.RowIds(kRows));
    EXPECT_EQ(ids, Tensor::From(std::vector<std::int64_t>{3, 7}));
    // The rows of one that is divided, and of a table one that nobody has touched.
    PSTRAIN_ASSIGN_OR_RETURN(
        const Tensor rows,
        saved.Lookup(kDivided, Tensor::From(std::vector<std::int32_t>{4, 0, 4})));
    EXPECT_EQ(rows, *Tensor::From(Shape{3, 2}, std::vector<float>{8, 9, 0, 1, 8, 9}));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor touched,
                             saved.Lookup(kRows, Tensor::From(std::vector<std::int64_t>{7, 8, 3})));
    EXPECT_EQ(touched, *Tensor::From(Shape{3, 2}, std::vector<double>{1, 2, 0, 0, 3, 4}));
    return EvaluatedMetrics{{"accuracy", 0.5}};
  };
  const EvaluationOutcome outcome = Evaluate(check);
  EXPECT_EQ(outcome.status, OkStatus());
  EXPECT_THAT(outcome.metrics, ElementsAre(Pair("accuracy", 0.5)));
  EXPECT_FALSE(outcome.ends.has_value());
}

TEST_F(SidecarTest, WhatCannotBeRead_IsSaid) {
  const auto check = [](const SavedVariables& saved) -> Result<EvaluatedMetrics> {
    EXPECT_EQ(saved.Read({"other"}).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(saved.Read(kRows).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(saved.RowIds(kDivided).status().code(), StatusCode::kInvalidArgument);
    const Tensor beyond = Tensor::From(std::vector<std::int64_t>{5});
    EXPECT_EQ(saved.Lookup(kDivided, beyond).status().code(), StatusCode::kOutOfRange);
    EXPECT_EQ(saved.Lookup(kRows, Tensor(1.0F)).status().code(), StatusCode::kInvalidArgument);
    return saved.Read({"other"}).status();
  };
  // The function's own mistake: another attempt would make it again.
  const EvaluationOutcome outcome = Evaluate(check);
  ASSERT_TRUE(outcome.ends.has_value());
  EXPECT_EQ(outcome.ends->status().code(), StatusCode::kNotFound);
  EXPECT_THAT(outcome.ends->status().message(), HasSubstr("the evaluation of checkpoint "));
}

TEST_F(SidecarTest, WhenACheckpointShardIsDamaged_ItIsReadAgainLater) {
  const Result<std::vector<std::string>> files = ListDirectory(folder_);
  ASSERT_TRUE(files.ok());
  for (const std::string& file : *files) {
    if (file == "manifest" || file == "mark") continue;
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder_, file), "damaged").ok());
  }
  const EvaluationOutcome outcome = Evaluate([](const SavedVariables& saved) {
    EXPECT_FALSE(saved.Read(kDivided).ok());
    return Result<EvaluatedMetrics>(InternalError("it could not be read"));
  });
  EXPECT_FALSE(outcome.ends.has_value());
  EXPECT_EQ(outcome.status.code(), StatusCode::kDataLoss);
}

TEST_F(SidecarTest, WhenTheFunctionThrows_TheEvaluatorEndsWithThat) {
  const EvaluationOutcome outcome = Evaluate([](const SavedVariables&) -> Result<EvaluatedMetrics> {
    throw std::runtime_error("no test data");
  });
  ASSERT_TRUE(outcome.ends.has_value());
  EXPECT_EQ(outcome.ends->status().code(), StatusCode::kInternal);
  EXPECT_THAT(outcome.ends->status().message(), HasSubstr("no test data"));
}

TEST_F(SidecarTest, WhenAMetricIsNotANumber_ItIsLeftOut) {
  const EvaluationOutcome outcome = Evaluate([](const SavedVariables&) {
    return Result<EvaluatedMetrics>(
        EvaluatedMetrics{{"a", std::numeric_limits<double>::quiet_NaN()}, {"b", 1}});
  });
  EXPECT_EQ(outcome.status, OkStatus());
  EXPECT_THAT(outcome.metrics, ElementsAre(Pair("b", 1)));
}

TEST_F(SidecarTest, WhenTheLastMarkWasEvaluated_NothingIsAnyMore) {
  int evaluations = 0;
  const auto count = [&evaluations](const SavedVariables&) {
    ++evaluations;
    return Result<EvaluatedMetrics>(EvaluatedMetrics{{"accuracy", 1}});
  };
  program::Sidecar until_4(count, {.max_evaluations = 4}, {});
  EXPECT_THAT(until_4.Evaluate(folder_).metrics, testing::SizeIs(1));
  EXPECT_THAT(until_4.Evaluate(folder_).metrics, IsEmpty());
  EXPECT_EQ(evaluations, 1);
  program::Sidecar until_5(count, {.max_evaluations = 5}, {});
  until_5.Evaluate(folder_);
  until_5.Evaluate(folder_);
  EXPECT_EQ(evaluations, 3);
}

TEST(SidecarEvaluator, WhenTheTaskIsNoEvaluator_SaysWhatToDo) {
  const auto nothing = [](const SavedVariables&) {
    return Result<EvaluatedMetrics>(EvaluatedMetrics());
  };
  const Status status = SidecarEvaluator(ClusterResolver(), nothing).Start().status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("cluster.task_type() is \"evaluator\""));
}

}  // namespace
}  // namespace pstrain
