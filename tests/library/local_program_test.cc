// Programs as a person writes them, by the public headers alone: chief, two ps and two workers as
// threads of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr seconds kSoon{120};

const VariableRef kSum{"sum"}, kBig{"big"}, kWeights{"weights"}, kBias{"bias"}, kPhase{"phase"};

/// What functions do to this process, so that tests see when they run.
std::atomic<int> runs{0};
std::atomic<bool> may_go_on{true};

Result<Values> AddTo(Step& step, std::int64_t amount, std::int32_t place) {
  std::vector<std::int64_t> delta(100);
  delta[static_cast<std::size_t>(place)] = amount;
  step.Add(kBig, Tensor::From(std::move(delta)));
  step.Add(kSum, amount);
  return Values{{"twice", 2 * amount}};
}
const Function kAddTo{"AddTo", AddTo};

/// Integers, so that sums of gradients are exact in any order.
Result<Values> Descend(Step& step, const Tensor& gradient) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kWeights, kBias));
  if (read[0].size() != gradient.size()) return InternalError("weights of another size");
  step.Gradient(kWeights, gradient);
  step.Gradient(kBias, Tensor(1.0F));
  return Values();
}
const Function kDescend{"Descend", Descend};

Result<Values> ReadAll(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kWeights, kBias));
  return Values{{"weights", read[0]}, {"bias", read[1]}};
}
const Function kReadAll{"ReadAll", ReadAll};

VariableRef TrainedOf(std::int32_t i) { return VariableRef{"trained" + std::to_string(i)}; }

Result<Values> Train(Step& step, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) step.Gradient(TrainedOf(i), Tensor(1.0));
  return Values();
}
const Function kTrain{"Train", Train};

Result<Values> ReadTrained(Step& step, std::int32_t i) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor value, step.Read(TrainedOf(i)));
  return Values{{"value", value}};
}
const Function kReadTrained{"ReadTrained", ReadTrained};

Result<Values> ReadSums(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kSum, kBig));
  return Values{{"sum", read[0]}, {"big", read[1]}};
}
const Function kReadSums{"ReadSums", ReadSums};

/// Counts, and fails after it has said what it would change.
Result<Values> FailAt(Step& step, std::int64_t number, std::int64_t bad) {
  ++runs;
  step.Add(kSum, number);
  if (number == bad) return OutOfRangeError("number " + std::to_string(number) + " is bad");
  while (!may_go_on) std::this_thread::yield();
  return Values{{"number", number}};
}
const Function kFailAt{"FailAt", FailAt};

Result<Values> WaitAndFail(Step&) {
  ++runs;
  while (!may_go_on) std::this_thread::yield();
  return AbortedError("too late");
}
const Function kWaitAndFail{"WaitAndFail", WaitAndFail};

Result<Values> Throw(Step&) { throw std::runtime_error("of its own"); }
const Function kThrow{"Throw", Throw};

Result<Values> Large(Step&, std::int64_t bytes) {
  return Values{{"text", std::string(static_cast<std::size_t>(bytes), 'x')}};
}
const Function kLarge{"Large", Large};

/// Of what it finds and what it makes of it.
Result<Values> PhaseOf(Step& step, std::int64_t expected) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor phase, step.Read(kPhase));
  PSTRAIN_ASSIGN_OR_RETURN(const auto found, phase.scalar<std::int64_t>());
  if (found == expected) return Values();
  return FailedPreconditionError("found " + std::to_string(found));
}
const Function kPhaseOf{"PhaseOf", PhaseOf};

Result<Values> Echo(Step&, const Values& values, const std::string& text, bool flag,
                    double number) {
  Values back = values;
  back.Set("text", text);
  back.Set("flag", flag);
  back.Set("number", number);
  return back;
}
const Function kEcho{"Echo", Echo};

Result<Values> Wrong(Step& step, std::int32_t how) {
  const VariableRef unknown{"unknown"};
  if (how == 0) step.Add(unknown, Tensor(1.0F));
  if (how == 1) step.Add(kSum, Tensor(1.0F));
  if (how == 2) step.Gradient(kSum, Tensor(std::int64_t{1}));
  if (how == 3) step.Gradient(kBias, Tensor(std::numeric_limits<float>::infinity()));
  if (how == 4) {
    step.Gradient(kBias, Tensor(1.0F));
    PSTRAIN_RETURN_IF_ERROR(step.Read(kBias).status());
  }
  if (how == 5) PSTRAIN_RETURN_IF_ERROR(step.Read(unknown).status());
  return Values();
}
const Function kWrong{"Wrong", Wrong};

class LocalProgramTest : public testing::Test {
 protected:
  LocalProgramTest() {
    runs = 0;
    may_go_on = true;
  }

  void Start(const StrategyOptions& options = {.ps = 2, .workers = 2, .shards = 5}) {
    Result<ParameterServerStrategy> strategy = ParameterServerStrategy::Create(options);
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    strategy_ = *std::move(strategy);
    Result<ClusterCoordinator> coordinator = ClusterCoordinator::Create(*strategy_);
    ASSERT_TRUE(coordinator.ok());
    program_ = *std::move(coordinator);
  }
  void DeclareSums() {
    const auto scope = strategy_->Scope();
    Declare(kSum, Shape{}, optimizers::None{}, DType::kInt64);
    Declare(kBig, Shape{100}, optimizers::None{}, DType::kInt64);
  }
  void DeclareModel() {
    const auto scope = strategy_->Scope();
    Declare(kWeights, Shape{7}, optimizers::Sgd{.learning_rate = 0.5}, DType::kFloat32);
    Declare(kBias, Shape{}, optimizers::Sgd{.learning_rate = 0.5}, DType::kFloat32);
  }
  static void Declare(const VariableRef& ref, Shape shape, optimizers::Optimizer optimizer,
                      DType dtype) {
    const auto created =
        Variable::Create(ref, std::move(shape), initializers::Zeros(), optimizer, dtype);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  ClusterCoordinator& coordinator() { return *program_; }
  /// What the function returns, run in a phase of its own.
  template <typename... Params, typename... Args>
  Values Call(const Function<Params...>& function, Args&&... arguments) {
    EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
    const auto scheduled = coordinator().Schedule(function, std::forward<Args>(arguments)...);
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    const Result<Values> values = scheduled->Fetch(kSoon);
    EXPECT_TRUE(values.ok()) << values.status().ToString();
    return values.ok() ? *values : Values();
  }
  /// The error of the function, which is the program's too.
  template <typename... Params, typename... Args>
  Status ErrorOf(const Function<Params...>& function, Args&&... arguments) {
    const auto scheduled = coordinator().Schedule(function, std::forward<Args>(arguments)...);
    if (!scheduled.ok()) return scheduled.status();
    const Status fetched = scheduled->Fetch(kSoon).status();
    EXPECT_EQ(coordinator().Join(kSoon), fetched);
    return fetched;
  }

  std::optional<ParameterServerStrategy> strategy_;
  std::optional<ClusterCoordinator> program_;
};

TEST_F(LocalProgramTest, WhenHundredsOfCallsAdd_EachCountsOnce) {
  Start();
  DeclareSums();
  constexpr std::int64_t kCalls = 600;
  std::vector<RemoteValue> values;
  std::vector<std::int64_t> expected(100);
  for (std::int64_t i = 0; i < kCalls; ++i) {
    const auto place = static_cast<std::int32_t>(i * 7 % 100);
    const auto value = coordinator().Schedule(kAddTo, i, place);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    values.push_back(*value);
    expected[static_cast<std::size_t>(place)] += i;
  }
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(strategy_->Iterations(), kCalls);
  for (std::int64_t i = 0; i < kCalls; ++i) {
    const auto value = values[static_cast<std::size_t>(i)].Fetch(kSoon);
    ASSERT_TRUE(value.ok());
    EXPECT_EQ(*value->scalar<std::int64_t>("twice"), 2 * i);
  }
  const Values sums = Call(kReadSums);
  EXPECT_EQ(*sums.scalar<std::int64_t>("sum"), kCalls * (kCalls - 1) / 2);
  EXPECT_EQ(*sums.Find("big")->ToVector<std::int64_t>(), expected);
  EXPECT_TRUE(*coordinator().Done());
  const Result<int> finished = coordinator().Finish();
  ASSERT_TRUE(finished.ok()) << finished.status().ToString();
  EXPECT_EQ(*finished, 0);
}

TEST_F(LocalProgramTest, WhenGradientsAreIntegers_WeightsAreTheClosedForm) {
  Start();
  DeclareModel();
  std::vector<float> expected(7);
  constexpr int kCalls = 200;
  for (int i = 0; i < kCalls; ++i) {
    std::vector<float> gradient;
    for (int k = 0; k < 7; ++k) gradient.push_back(static_cast<float>((i * 5 + k * 3) % 11 - 5));
    for (std::size_t k = 0; k < 7; ++k) expected[k] -= 0.5F * gradient[k];
    ASSERT_TRUE(coordinator().Schedule(kDescend, Tensor::From(gradient)).ok());
  }
  const Values all = Call(kReadAll);
  EXPECT_EQ(*all.Find("weights")->ToVector<float>(), expected);
  EXPECT_EQ(*all.scalar<float>("bias"), -0.5F * kCalls);
  EXPECT_TRUE(coordinator().Finish().ok());
}

// One step from 1 with a gradient of 1: each number of each optimizer takes part in it, but for the
// second beta of Lion, which the next step would have.
TEST_F(LocalProgramTest, WhenVariablesHaveAnyOptimizer_TheyTakeItsStep) {
  Start();
  const double schedule = 0.5 * (1 - 0.5 * 0.96);
  const double next = 0.5 * (1 - 0.5 * 0.96 * 0.96);
  const std::vector<std::pair<optimizers::Optimizer, double>> trained = {
      {optimizers::Sgd{.learning_rate = 0.5, .momentum = 0.5, .nesterov = true}, -0.75},
      {optimizers::Adagrad{.learning_rate = 0.5, .initial_accumulator_value = 3, .epsilon = 2},
       -0.125},
      {optimizers::Ftrl{.learning_rate = 1,
                        .learning_rate_power = -0.5,
                        .initial_accumulator_value = 0,
                        .l1_regularization_strength = 0.25,
                        .l2_regularization_strength = 0.5,
                        .l2_shrinkage_regularization_strength = 0.5,
                        .beta = 1},
       -1.25},
      {optimizers::Adam{
           .learning_rate = 0.25, .beta_1 = 0.5, .beta_2 = 0.75, .epsilon = 1, .amsgrad = true},
       -0.125 / 1.5},
      {optimizers::AdamW{.learning_rate = 0.25,
                         .weight_decay = 0.5,
                         .beta_1 = 0.5,
                         .beta_2 = 0.75,
                         .epsilon = 1,
                         .amsgrad = true},
       -0.125 - 0.125 / 1.5},
      {optimizers::Lion{.learning_rate = 0.25, .beta_1 = 0.5, .beta_2 = 0.5}, -0.25},
      {optimizers::Rmsprop{
           .learning_rate = 0.5, .rho = 0.75, .momentum = 0.5, .epsilon = 0.75, .centered = true},
       -0.5 / std::sqrt(0.25 - 0.0625 + 0.75)},
      {optimizers::Adadelta{.learning_rate = 0.5, .rho = 0.75, .epsilon = 0.75},
       -0.5 * std::sqrt(0.75)},
      {optimizers::Adamax{.learning_rate = 0.25, .beta_1 = 0.5, .beta_2 = 0.75, .epsilon = 1},
       -0.125},
      {optimizers::Nadam{.learning_rate = 0.25, .beta_1 = 0.5, .beta_2 = 0.75, .epsilon = 1},
       -0.125 * (next * 0.5 / (1 - schedule * next) + 1)},
  };
  {
    const auto scope = strategy_->Scope();
    for (std::size_t i = 0; i < trained.size(); ++i) {
      auto variable = Variable::Create(TrainedOf(static_cast<std::int32_t>(i)), Shape{},
                                       initializers::Zeros(), trained[i].first, DType::kFloat64);
      ASSERT_TRUE(variable.ok()) << variable.status().ToString();
      ASSERT_TRUE(variable->Assign(Tensor(1.0), kSoon).ok());
    }
  }
  Call(kTrain, static_cast<std::int32_t>(trained.size()));
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const Values values = Call(kReadTrained, static_cast<std::int32_t>(i));
    EXPECT_NEAR(*values.scalar<double>("value"), 1 + trained[i].second, 1e-12) << i;
  }
  EXPECT_TRUE(coordinator().Finish().ok());
}

TEST_F(LocalProgramTest, WhenAFunctionFails_TheRestIsVoidedAndTheErrorIsSaidOnce) {
  Start({.ps = 2, .workers = 1, .closures_per_worker = 1, .shards = 5});
  DeclareSums();
  constexpr std::int64_t kBad = 3;
  std::vector<RemoteValue> values;
  may_go_on = false;  // the first stays with the worker until all are scheduled
  for (std::int64_t i = 0; i < 60; ++i) {
    const auto value = coordinator().Schedule(kFailAt, i, kBad);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    values.push_back(*value);
  }
  EXPECT_EQ(coordinator().Join(milliseconds(0)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(values[0].Fetch(milliseconds(0)).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(*coordinator().Done());
  may_go_on = true;
  const Status error = coordinator().Join(kSoon);
  EXPECT_EQ(error.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(error.message(), "FailAt: number 3 is bad");
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  std::int64_t sum = 0;
  std::int64_t cancelled = 0;
  std::int64_t succeeded = 0;
  for (std::int64_t i = 0; i < 60; ++i) {
    const Status status = values[static_cast<std::size_t>(i)].Fetch(kSoon).status();
    if (status.ok()) {
      sum += i;
      ++succeeded;
    } else if (i == kBad) {
      EXPECT_EQ(status, error);
    } else {
      EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.ToString();
      ++cancelled;
    }
  }
  EXPECT_GE(cancelled, 50) << "a worker holds a few";
  EXPECT_EQ(runs, succeeded + 1) << "what was voided was not run";
  EXPECT_EQ(strategy_->Iterations(), succeeded);
  EXPECT_EQ(*Call(kReadSums).scalar<std::int64_t>("sum"), sum);
  EXPECT_TRUE(coordinator().Finish().ok());
}

TEST_F(LocalProgramTest, WhenSeveralFail_OneErrorNamesTheCountOfTheOthers) {
  Start({.ps = 1, .workers = 1, .closures_per_worker = 3});
  may_go_on = false;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(coordinator().Schedule(kWaitAndFail).ok());
  while (runs < 3) std::this_thread::yield();
  EXPECT_FALSE(*coordinator().Done());
  may_go_on = true;
  const Status error = coordinator().Join(kSoon);
  EXPECT_EQ(error.code(), StatusCode::kAborted);
  EXPECT_EQ(error.message(), "WaitAndFail: too late (2 others failed too)");
  EXPECT_TRUE(*coordinator().Done());
}

TEST_F(LocalProgramTest, WhenScheduleMeetsAnError_ThatCallIsNotScheduled) {
  Start();
  DeclareSums();
  const auto bad = coordinator().Schedule(kFailAt, 5, 5);
  ASSERT_TRUE(bad.ok());
  EXPECT_EQ(bad->Fetch(kSoon).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(coordinator().Schedule(kFailAt, 6, 5).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(coordinator().Schedule(kFailAt, 7, 5).ok());
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(*Call(kReadSums).scalar<std::int64_t>("sum"), 7);
}

TEST_F(LocalProgramTest, WhenAssignsAndJoinsEndPhases_NobodySeesWhatComesLater) {
  Start();
  std::optional<Variable> phase;
  {
    const auto scope = strategy_->Scope();
    const auto created =
        Variable::Create(kPhase, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    phase = *created;
  }
  for (std::int64_t i = 1; i <= 20; ++i) {
    ASSERT_EQ(phase->Assign(Tensor(i), kSoon), OkStatus());
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(coordinator().Schedule(kPhaseOf, i).ok());
  }
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(strategy_->Iterations(), 20 * 11);
  EXPECT_EQ(phase->Assign(Tensor(1.0F), kSoon).code(), StatusCode::kInvalidArgument);
}

TEST_F(LocalProgramTest, WhenOfEachKind_ArgumentsComeBackAsTheyWere) {
  Start();
  const Tensor matrix = *Tensor::From(Shape{2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  const Tensor words = Tensor::From(std::vector<std::string>{"", "zwei", std::string(1, '\0')});
  const Values sent{{"matrix", matrix}, {"words", words}};
  const Values back = Call(kEcho, sent, "some text", true, 0.25);
  Values expected = sent;
  expected.Set("text", "some text");
  expected.Set("flag", true);
  expected.Set("number", 0.25);
  EXPECT_EQ(back, expected);
}

TEST_F(LocalProgramTest, WhenAFunctionIsWrong_ItsErrorSaysWhat) {
  Start();
  DeclareSums();
  DeclareModel();
  const std::pair<StatusCode, const char*> expected[] = {
      {StatusCode::kNotFound, "no variable unknown"},
      {StatusCode::kInvalidArgument, "float32 () for variable sum, which is int64 ()"},
      {StatusCode::kInvalidArgument, "has no optimizer"},
      {StatusCode::kOutOfRange, "infinite or not a number"},
      {StatusCode::kFailedPrecondition, "read after a gradient"},
      {StatusCode::kNotFound, "no variable unknown"}};
  for (std::int32_t how = 0; how < 6; ++how) {
    const Status error = ErrorOf(kWrong, how);
    EXPECT_EQ(error.code(), expected[how].first) << error.ToString();
    EXPECT_THAT(error.message(), HasSubstr(expected[how].second));
  }
  EXPECT_EQ(ErrorOf(kThrow).code(), StatusCode::kInternal);
  EXPECT_EQ(ErrorOf(kLarge, 1 << 20).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Call(kLarge, 1'000'000).size(), 1U);
  EXPECT_EQ(strategy_->Iterations(), 1);
}

// A program has no manifest: what it is told is not to be looked for in one.
TEST_F(LocalProgramTest, WhenAVariableOverflows_TheErrorNamesItAndNoFieldOfAJob) {
  Start();
  DeclareModel();
  const Tensor huge = *Tensor::From(Shape{7}, std::vector<float>(7, 3e38F));
  Status error = OkStatus();
  // The run ends when its chief has heard of it, some of these later.
  for (int i = 0; error.ok() && i < 20'000; ++i) {
    error = coordinator().Schedule(kDescend, huge).status();
    if (error.ok()) error = coordinator().Join(kSoon);
  }
  EXPECT_EQ(error.code(), StatusCode::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("variable weights in shard "));
  EXPECT_THAT(error.message(), HasSubstr("is infinite or not a number"));
  EXPECT_THAT(error.message(), Not(HasSubstr("spec.")));
}

TEST_F(LocalProgramTest, WhenAnotherThreadSchedules_ItIsRefused) {
  Start();
  DeclareSums();
  ASSERT_TRUE(coordinator().Schedule(kAddTo, 1, 1).ok());
  Status other;
  std::thread([&] { other = coordinator().Schedule(kAddTo, 1, 1).status(); }).join();
  EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition) << other.ToString();
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(strategy_->Iterations(), 1);
}

TEST_F(LocalProgramTest, WhenItHasFinished_NothingIsScheduledAnyMore) {
  Start();
  DeclareSums();
  const auto last = coordinator().Schedule(kAddTo, 4, 4);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*coordinator().Finish(), 0);
  EXPECT_EQ(*last->Fetch(kSoon)->scalar<std::int64_t>("twice"), 8);
  EXPECT_EQ(coordinator().Schedule(kAddTo, 1, 1).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(coordinator().Finish().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(LocalProgramTest, WhenAFunctionHasFailed_FinishSaysItAndEndsTheRun) {
  Start();
  DeclareSums();
  ASSERT_TRUE(coordinator().Schedule(kFailAt, 5, 5).ok());
  EXPECT_EQ(coordinator().Finish().status().code(), StatusCode::kOutOfRange);
}

TEST_F(LocalProgramTest, WhenItIsGivenUp_EverythingEnds) {
  Start();
  DeclareSums();
  const auto scheduled = coordinator().Schedule(kAddTo, 1, 1);
  ASSERT_TRUE(scheduled.ok());
  ASSERT_TRUE(scheduled->Fetch(kSoon).ok());
  program_.reset();
  strategy_.reset();
  EXPECT_TRUE(scheduled->Fetch(kSoon).ok());
}

TEST_F(LocalProgramTest, WhenVariablesAreDeclaredWrongly_ItSaysWhy) {
  EXPECT_EQ(Variable::Create(kSum, Shape{}).status().code(), StatusCode::kFailedPrecondition);
  Start();
  DeclareSums();
  const auto scope = strategy_->Scope();
  EXPECT_TRUE(
      Variable::Create(kSum, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
          .ok());
  EXPECT_EQ(
      Variable::Create(kSum, Shape{2}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
          .status()
          .code(),
      StatusCode::kAlreadyExists);
  EXPECT_EQ(Variable::Create({""}, Shape{}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Variable::Create({"open"}, Shape{Shape::kUnknown}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(
      Variable::Create({"text"}, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kString)
          .status()
          .code(),
      StatusCode::kInvalidArgument);
}

TEST_F(LocalProgramTest, WhenOptionsAreOutOfRange_CreateNamesThem) {
  const Status ps = ParameterServerStrategy::Create({.ps = 0}).status();
  EXPECT_EQ(ps.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ps.message(), HasSubstr("StrategyOptions.ps"));
}

class ClusterProgramTest : public testing::Test {
 protected:
  static ClusterResolver Cluster(const std::string& type, int index = 0) {
    return ClusterResolver(
        {.cluster_spec = ClusterSpec::Of(
             {{"chief", {"localhost:1"}}, {"ps", {"localhost:2"}}, {"worker", {"localhost:3"}}}),
         .task_type = type,
         .task_id = index});
  }
};

TEST_F(ClusterProgramTest, WhenTfConfigCannotBeUsed_CreateSaysSo) {
  setenv("TF_CONFIG", "{}", 1);
  const Status bad = ParameterServerStrategy::Create().status();
  unsetenv("TF_CONFIG");
  EXPECT_EQ(bad.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(bad.message(), HasSubstr("TF_CONFIG"));
}

TEST_F(ClusterProgramTest, WhenTheTaskIsNoChief_CreateSaysWhatToCall) {
  for (const char* type : {"ps", "worker"}) {
    const Status status = ParameterServerStrategy::Create(Cluster(type)).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr("Server(cluster).Join()"));
  }
}

TEST_F(ClusterProgramTest, WhenThereIsNoJob_SaysHowToStartAProgram) {
  setenv("PSTRAIN_JOB_FILE", "/absent/job.yaml", 1);
  const Status chief = ParameterServerStrategy::Create(Cluster("chief")).status();
  const Status ps = Server(Cluster("ps")).Join().status();
  unsetenv("PSTRAIN_JOB_FILE");
  for (const Status& status : {chief, ps}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("pstrain run JOB.yaml"));
  }
  EXPECT_EQ(Server(Cluster("worker", 7)).Join().status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
