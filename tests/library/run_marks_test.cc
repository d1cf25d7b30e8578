// Programs that make marks, as a person writes them, and the next process of them: here a second
// strategy on the same directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr seconds kSoon{120};

const VariableRef kTotal{"total"}, kSlow{"slow"}, kOther{"other"};

Result<Values> AddOne(Step& step, std::int64_t number) {
  step.Add(kTotal, number);
  step.Gradient(kSlow, Tensor(-1.0F));
  step.metric("number").Add(static_cast<double>(number));
  return Values();
}
const Function kAddOne{"AddOne", AddOne};

Result<Values> ReadTotal(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kTotal, kSlow));
  return Values{{"total", read[0]}, {"slow", read[1]}};
}
const Function kReadTotal{"ReadTotal", ReadTotal};

Result<Values> Fails(Step&) { return OutOfRangeError("as it should"); }
const Function kFails{"Fails", Fails};

Result<Dataset> CountUp(const InputContext&) { return Dataset::Range(100).Batch(1); }
const DatasetFunction kCountUp{"CountUp", CountUp};

Result<Values> TakeOne(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
  PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor value, element.Get("value"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto numbers, value.data<std::int64_t>());
  step.Add(kTotal, numbers[0]);
  return Values{{"number", numbers[0]}};
}
const Function kTakeOne{"TakeOne", TakeOne};

/// One process of a program: its strategy on a directory that outlives it.
class Life {
 public:
  explicit Life(const std::string& directory, int workers = 2)
      : strategy_(ParameterServerStrategy::Create(
            ClusterResolver(), {.ps = 2, .workers = workers, .checkpoint_directory = directory})) {
    EXPECT_TRUE(strategy_.ok()) << strategy_.status().ToString();
  }
  ClusterCoordinator coordinator() const { return *ClusterCoordinator::Create(*strategy_); }
  CheckpointManager Manager(const CheckpointManagerOptions& options = {}) const {
    auto manager = CheckpointManager::Create(coordinator(), options);
    EXPECT_TRUE(manager.ok()) << manager.status().ToString();
    return *manager;
  }
  const ParameterServerStrategy& strategy() const { return *strategy_; }
  void Declare() const {
    const auto scope = strategy_->Scope();
    for (const Status& status : {Variable::Create(kTotal, Shape{}, initializers::Zeros(),
                                                  optimizers::None{}, DType::kInt64)
                                     .status(),
                                 Variable::Create(kSlow, Shape{}, initializers::Zeros(),
                                                  optimizers::Sgd{.learning_rate = 1})
                                     .status()}) {
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
  }
  void Add(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; ++i) {
      ASSERT_TRUE(coordinator().Schedule(kAddOne, i).ok());
    }
    ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  }
  std::int64_t Total() const {
    const auto reading = coordinator().Schedule(kReadTotal);
    EXPECT_TRUE(reading.ok()) << reading.status().ToString();
    if (!reading.ok()) return -1;
    const auto values = reading->Fetch(kSoon);
    EXPECT_TRUE(values.ok()) << values.status().ToString();
    return values.ok() ? *values->scalar<std::int64_t>("total") : -1;
  }

 private:
  Result<ParameterServerStrategy> strategy_;
};

class MarksTest : public testing::Test {
 protected:
  std::string Directory() const { return dir_.path(); }
  TempDir dir_;
};

TEST_F(MarksTest, WhenARunBegins_TheMarkIsZero) {
  const Life life(Directory());
  auto manager = life.Manager();
  EXPECT_EQ(manager.RestoreOrInitialize().value(), 0);
  EXPECT_EQ(manager.user_bytes(), "");
}

TEST_F(MarksTest, TheNextProcess_GoesOnFromTheNewestMark) {
  {
    const Life life(Directory());
    life.Declare();
    auto manager = life.Manager();
    ASSERT_EQ(manager.RestoreOrInitialize().value(), 0);
    life.Add(0, 10);
    ASSERT_EQ(manager.Save({.mark = 1}), OkStatus());
    life.Add(10, 20);
    ASSERT_EQ(manager.Save({.mark = 2, .user_bytes = "best 0.5"}), OkStatus());
    life.Add(20, 30);
    EXPECT_EQ(life.Total(), 435);
  }
  {
    const Life life(Directory(), 3);
    life.Declare();
    auto manager = life.Manager();
    ASSERT_EQ(manager.RestoreOrInitialize().value(), 2);
    EXPECT_EQ(manager.user_bytes(), "best 0.5");
    EXPECT_EQ(life.Total(), 190) << "what was added after the mark has not happened";
    EXPECT_EQ(life.strategy().Iterations(), 21);
    EXPECT_EQ(life.coordinator().metric("number").Count(), 20);
    EXPECT_EQ(life.coordinator().metric("number").Value() * 20, 190);
    life.Add(20, 40);
    EXPECT_EQ(life.Total(), 780);
    EXPECT_EQ(life.coordinator().metric("number").Count(), 40);
    ASSERT_EQ(manager.Save({.mark = 7}), OkStatus());
  }
  const Life life(Directory());
  life.Declare();
  ASSERT_EQ(life.Manager().RestoreOrInitialize().value(), 7);
  EXPECT_EQ(life.Total(), 780);
  EXPECT_EQ(life.coordinator().Finish().value(), 0);
}

TEST_F(MarksTest, WhatContradictsTheMark_IsRefusedByName_AndTheRestStays) {
  {
    const Life life(Directory());
    life.Declare();
    auto manager = life.Manager();
    ASSERT_TRUE(manager.RestoreOrInitialize().ok());
    life.Add(0, 4);
    ASSERT_EQ(manager.Save({.mark = 1}), OkStatus());
    const auto scope = life.strategy().Scope();
    ASSERT_TRUE(Variable::Create(kOther, Shape{3}, initializers::Zeros()).ok());
  }
  const Life life(Directory());
  {
    const auto scope = life.strategy().Scope();
    const Status differs =
        Variable::Create(kTotal, Shape{2}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
            .status();
    EXPECT_EQ(differs.code(), StatusCode::kAlreadyExists);
    EXPECT_THAT(differs.message(), HasSubstr("variable total"));
    EXPECT_THAT(differs.message(), HasSubstr("shape"));
    EXPECT_TRUE(Variable::Create(kOther, Shape{5}, initializers::Zeros()).ok())
        << "it was declared after the mark, in a history that is over";
  }
  ASSERT_EQ(life.Manager().RestoreOrInitialize().value(), 1);
  EXPECT_EQ(life.Total(), 6) << "declared by nobody in this process";
}

TEST_F(MarksTest, ANamedIterator_GoesOnWhereTheMarkSays) {
  std::vector<std::int64_t> taken;
  const auto take = [&taken](const Life& life, const Iterator& input, int count) {
    for (int i = 0; i < count; ++i) {
      const auto value = life.coordinator().Schedule(kTakeOne, input);
      ASSERT_TRUE(value.ok()) << value.status().ToString();
      taken.push_back(*value->Fetch(kSoon)->scalar<std::int64_t>("number"));
    }
  };
  const auto iterate = [](const Life& life) {
    return life.coordinator().CreatePerWorkerDataset(kCountUp)->Iterate({.name = "train"}).value();
  };
  {
    const Life life(Directory());
    life.Declare();
    auto manager = life.Manager();
    ASSERT_TRUE(manager.RestoreOrInitialize().ok());
    take(life, iterate(life), 3);
    EXPECT_EQ(iterate(life), iterate(life)) << "of one name there is one";
    ASSERT_EQ(manager.Save({.mark = 1}), OkStatus());
    take(life, iterate(life), 2);
  }
  EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3, 4));
  taken.clear();
  const Life life(Directory());
  life.Declare();
  ASSERT_EQ(life.Manager().RestoreOrInitialize().value(), 1);
  take(life, iterate(life), 2);
  EXPECT_THAT(taken, ElementsAre(3, 4));
  const auto unnamed = life.coordinator().CreatePerWorkerDataset(kCountUp)->Iterate();
  take(life, *unnamed, 1);
  EXPECT_EQ(taken.back(), 0);
}

TEST_F(MarksTest, WhatComesInAWrongOrder_IsRefused) {
  const auto code = [](const auto& result) { return result.status().code(); };
  {
    const Life life(Directory());
    life.Declare();
    auto manager = life.Manager();
    const Status early = life.coordinator().Schedule(kAddOne, 1).status();
    EXPECT_EQ(early.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(early.message(), HasSubstr("RestoreOrInitialize"));
    EXPECT_EQ(manager.Save({.mark = 1}).code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(code(CheckpointManager::Create(life.coordinator())), StatusCode::kFailedPrecondition);
    ASSERT_TRUE(manager.RestoreOrInitialize().ok());
    EXPECT_EQ(code(manager.RestoreOrInitialize()), StatusCode::kFailedPrecondition);
    Status elsewhere;
    Status saved;
    std::thread other([&] {
      elsewhere = life.coordinator().Schedule(kAddOne, 1).status();
      saved = manager.Save({.mark = 1});
    });
    other.join();
    EXPECT_EQ(elsewhere.code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(saved.code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(manager.Save({.mark = 0}).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(manager.Save({.mark = 1, .user_bytes = std::string(65537, 'x')}).code(),
              StatusCode::kResourceExhausted);
    ASSERT_EQ(manager.Save({.mark = 1, .user_bytes = std::string(65536, 'x')}), OkStatus());
  }
  {
    const Life life(Directory());
    const Status without = life.coordinator().Schedule(kReadTotal).status();
    EXPECT_EQ(without.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(without.message(), HasSubstr("goes on from its mark 1"));
  }
  const TempDir fresh;
  const Life life(fresh.path());
  life.Declare();
  life.Add(0, 1);
  EXPECT_EQ(code(CheckpointManager::Create(life.coordinator())), StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(CheckpointManager::Create(life.coordinator(), {.max_to_keep = 1})),
            StatusCode::kInvalidArgument);
}

TEST_F(MarksTest, TheErrorOfAFunction_IsToldBySave_WhichMayBeCalledAgain) {
  const Life life(Directory());
  life.Declare();
  auto manager = life.Manager();
  ASSERT_TRUE(manager.RestoreOrInitialize().ok());
  ASSERT_TRUE(life.coordinator().Schedule(kFails).ok());
  EXPECT_EQ(manager.Save({.mark = 1}), OutOfRangeError("Fails: as it should"));
  EXPECT_EQ(manager.Save({.mark = 1}), OkStatus());
  EXPECT_EQ(life.coordinator().Finish().value(), 0);
}

TEST_F(MarksTest, WithABudget_FailedCallsAreCountedOverMarks) {
  constexpr CoordinatorOptions kBudget{.errors = Budget{2}};
  {
    const Life life(Directory());
    const ClusterCoordinator coordinator = *ClusterCoordinator::Create(life.strategy(), kBudget);
    const Status other = ClusterCoordinator::Create(life.strategy()).status();
    EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(other.message(), HasSubstr("Budget{2}"));
    ASSERT_TRUE(ClusterCoordinator::Create(life.strategy(), kBudget).ok());
    auto manager = CheckpointManager::Create(coordinator);
    ASSERT_TRUE(manager->RestoreOrInitialize().ok());
    auto tries = coordinator;
    const auto failed = tries.Schedule(kFails);
    ASSERT_TRUE(failed.ok());
    EXPECT_EQ(failed->Fetch(kSoon).status(), OutOfRangeError("Fails: as it should"));
    ASSERT_EQ(manager->Save({.mark = 1}), OkStatus()) << "it is of its RemoteValue alone";
    EXPECT_EQ(coordinator.FailedCalls(), 1U);
    ASSERT_TRUE(tries.Schedule(kFails).ok());
    ASSERT_EQ(tries.Join(kSoon), OkStatus());
    EXPECT_EQ(coordinator.FailedCalls(), 2U);
  }
  const Life life(Directory());
  auto coordinator = *ClusterCoordinator::Create(life.strategy(), kBudget);
  auto manager = CheckpointManager::Create(coordinator);
  ASSERT_EQ(manager->RestoreOrInitialize().value(), 1);
  EXPECT_EQ(coordinator.FailedCalls(), 1U) << "the second was in a history that is over";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(coordinator.Schedule(kFails).ok());
    const Status joined = coordinator.Join(kSoon);
    EXPECT_EQ(joined.ok(), i == 0) << joined.ToString();
  }
  EXPECT_EQ(coordinator.FailedCalls(), 3U);
  EXPECT_EQ(coordinator.UpdatesLostInRepair(), 0U);
  EXPECT_EQ(coordinator.Finish().value(), 0);
}

TEST_F(MarksTest, VariablesOfTheMarkThatNobodyDeclares_AreKeptAndListedOnce) {
  {
    const Life life(Directory());
    life.Declare();
    auto manager = life.Manager();
    ASSERT_TRUE(manager.RestoreOrInitialize().ok());
    life.Add(0, 4);
    ASSERT_EQ(manager.Save({.mark = 1}), OkStatus());
  }
  const auto declare_slow = [](const Life& life) {
    const auto scope = life.strategy().Scope();
    EXPECT_TRUE(
        Variable::Create(kSlow, Shape{}, initializers::Zeros(), optimizers::Sgd{.learning_rate = 1})
            .ok());
  };
  constexpr const char* kListed = "variables of the mark are not declared by this program";
  const auto listed = [](const std::string& log) {
    const auto at = log.find(kListed);
    return at == std::string::npos ? std::string() : log.substr(at, log.find('\n', at) - at);
  };
  {
    const Life life(Directory());
    auto manager = life.Manager();
    ASSERT_EQ(manager.RestoreOrInitialize().value(), 1);
    declare_slow(life);
    testing::internal::CaptureStderr();
    ASSERT_EQ(manager.Save({.mark = 2}), OkStatus());
    const std::string first = testing::internal::GetCapturedStderr();
    EXPECT_THAT(listed(first), HasSubstr("variables=total"));
    EXPECT_THAT(listed(first), Not(HasSubstr("slow")));
    testing::internal::CaptureStderr();
    ASSERT_EQ(manager.Save({.mark = 3}), OkStatus());
    EXPECT_EQ(listed(testing::internal::GetCapturedStderr()), "") << "once";
  }
  const Life life(Directory());
  ASSERT_EQ(life.Manager().RestoreOrInitialize().value(), 3);
  EXPECT_EQ(life.Total(), 6) << "it is kept";
  declare_slow(life);
  testing::internal::CaptureStderr();
  EXPECT_EQ(life.coordinator().Finish().value(), 0);
  EXPECT_THAT(listed(testing::internal::GetCapturedStderr()), HasSubstr("variables=total"));
}

TEST_F(MarksTest, OfManyMarks_TheNewestStay) {
  {
    const Life life(Directory());
    life.Declare();
    auto manager = life.Manager({.max_to_keep = 3});
    ASSERT_TRUE(manager.RestoreOrInitialize().ok());
    for (int i = 1; i <= 5; ++i) ASSERT_EQ(manager.Save({.mark = i}), OkStatus());
  }
  std::size_t marks = 0;
  const std::string checkpoints = JoinPath(Directory(), "run/checkpoints");
  const std::vector<std::string> names = *ListDirectory(checkpoints);
  for (const std::string& name : names) {
    if (FileExists(JoinPath(JoinPath(checkpoints, name), "mark"))) ++marks;
  }
  EXPECT_GE(marks, 3U);
  EXPECT_LE(marks, 4U) << "the last one may not have been deleted yet";
  const Life life(Directory());
  EXPECT_EQ(life.Manager().RestoreOrInitialize().value(), 5);
}

TEST_F(MarksTest, WithoutADirectory_MarksAreMadeAndEndWithTheProcess) {
  for (int i = 0; i < 2; ++i) {
    const Life life("");
    life.Declare();
    auto manager = life.Manager();
    EXPECT_EQ(manager.RestoreOrInitialize().value(), 0);
    life.Add(0, 3);
    EXPECT_EQ(manager.Save({.mark = 1}), OkStatus());
    EXPECT_EQ(life.coordinator().Finish().value(), 0);
  }
}

}  // namespace
}  // namespace pstrain
