// Built against an installed pstrain and libtorch by tests/consumer/torch.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>
#include <pstrain/torch.h>
#include <torch/nn/functional/embedding.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kSoon{120};

TEST(ToTorch, OfEachDType_SharesItsElementsAndKeepsThem) {
  std::optional<Tensor> tensor = Tensor::From(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}).value();
  const torch::Tensor shared = ToTorch(*tensor).value();
  EXPECT_EQ(shared.data_ptr(), static_cast<const void*>(tensor->bytes().data()));
  tensor.reset();
  EXPECT_EQ(shared[1][0].item<float>(), 3);
  EXPECT_EQ(ToTorch(Tensor(2.5)).value().item<double>(), 2.5);
  EXPECT_EQ(ToTorch(Tensor(std::int32_t{-3})).value().item<std::int32_t>(), -3);
  EXPECT_EQ(ToTorch(Tensor(std::int64_t{1} << 40)).value().item<std::int64_t>(), 1LL << 40);
  EXPECT_TRUE(ToTorch(Tensor(true)).value().item<bool>());
  EXPECT_THAT(ToTorch(Tensor::Zeros(DType::kFloat32, Shape{0, 3}).value()).value().sizes(),
              ElementsAre(0, 3));
  EXPECT_EQ(ToTorch(Tensor("text")).status().code(), StatusCode::kUnimplemented);
}

TEST(ToParameter, OfFloats_RequiresAGradient) {
  EXPECT_TRUE(ToParameter(Tensor(1.0F)).value().requires_grad());
  EXPECT_EQ(ToParameter(Tensor(std::int64_t{1})).status().code(), StatusCode::kInvalidArgument);
}

TEST(FromTorch, WhenContiguous_SharesItsElementsAndKeepsThem) {
  torch::Tensor tensor = torch::arange(6, torch::kInt64).reshape({2, 3});
  const void* data = tensor.data_ptr();
  const Tensor shared = FromTorch(tensor).value();
  EXPECT_EQ(static_cast<const void*>(shared.bytes().data()), data);
  tensor.reset();
  EXPECT_EQ(shared, Tensor::From(Shape{2, 3}, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}).value());
}

TEST(FromTorch, WhenOtherwiseInMemory_IsInRowOrder) {
  const torch::Tensor matrix = torch::arange(4, torch::kFloat32).reshape({2, 2});
  EXPECT_EQ(FromTorch(matrix.t()).value(),
            Tensor::From(Shape{2, 2}, std::vector<float>{0, 2, 1, 3}).value());
  EXPECT_EQ(FromTorch(torch::ones({}, torch::kFloat64).expand({3})).value(),
            Tensor::From(std::vector<double>{1, 1, 1}));
  EXPECT_EQ(FromTorch(torch::tensor({true, false})).value(),
            Tensor::From(std::vector<bool>{true, false}));
  EXPECT_EQ(FromTorch(torch::empty({0, 2}, torch::kInt32)).value(),
            Tensor::Zeros(DType::kInt32, Shape{0, 2}).value());
}

TEST(FromTorch, WhenItCannotBeTaken_SaysWhy) {
  EXPECT_EQ(FromTorch(torch::Tensor()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(FromTorch(torch::ones({2}, torch::kFloat16)).status().ToString(),
              HasSubstr("UNIMPLEMENTED: a tensor of libtorch of Half: convert it to float32"));
  EXPECT_THAT(FromTorch(torch::empty({2}, torch::kMeta)).status().ToString(),
              HasSubstr("UNIMPLEMENTED: a tensor of libtorch on meta: copy it to the CPU"));
  EXPECT_THAT(FromTorch(torch::eye(2).to_sparse()).status().ToString(), HasSubstr("to_dense()"));
}

const VariableRef kW{"w"}, kB{"b"}, kItems{"items"}, kUsers{"users"};

/// loss = w . x + 3 b: the gradients are x and 3.
Result<Values> Descend(Step& step, const Tensor& x) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kW, kB));
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor w, ToParameter(read[0]));
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor b, ToParameter(read[1]));
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor of_x, ToTorch(x));
  PSTRAIN_RETURN_IF_ERROR(Backward(step, w.dot(of_x) + 3 * b, {{"w", w}, {kB, b}}));
  if (w.grad().defined()) return InternalError("the gradient is still there");
  return Values();
}
const Function kDescend{"Descend", Descend};

/// Rows 1, 3 and 1 of a whole variable, and of a table: each is summed with its place as weight.
Result<Values> DescendRows(Step& step) {
  const Tensor ids = Tensor::From(std::vector<std::int64_t>{1, 3, 1});
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor items_read, step.Read(kItems));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor rows_read, step.Lookup(kUsers, ids));
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor items, ToParameter(items_read));
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor rows, ToParameter(rows_read));
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor places, ToTorch(ids));
  const torch::Tensor weights = torch::tensor({1.0F, 2.0F, 4.0F}).unsqueeze(1);
  const torch::Tensor embedded = torch::nn::functional::embedding(
      places, items, torch::nn::functional::EmbeddingFuncOptions().sparse(true));
  const torch::Tensor loss = (embedded * weights).sum() + (rows * weights).sum();
  PSTRAIN_RETURN_IF_ERROR(Backward(step, loss, {{kItems, items}, {kUsers, rows, ids}}));
  return Values();
}
const Function kDescendRows{"DescendRows", DescendRows};

Result<Values> ReadModel(Step& step) {
  const Tensor all = Tensor::From(std::vector<std::int64_t>{0, 1, 2, 3});
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kW, kB, kItems));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor users, step.Lookup(kUsers, all));
  return Values{{"w", read[0]}, {"b", read[1]}, {"items", read[2]}, {"users", users}};
}
const Function kReadModel{"ReadModel", ReadModel};

/// What goes wrong by name.
Result<Values> Wrong(Step& step, const std::string& how) {
  torch::Tensor w = ToParameter(Tensor::From(std::vector<float>(3))).value();
  torch::Tensor b = ToParameter(Tensor(0.0F)).value();
  torch::Tensor loss = w.sum() + b;
  if (how == "vector") loss = w + b;
  if (how == "no loss") loss = torch::Tensor();
  if (how == "constant") loss = loss.detach();
  if (how == "undefined") b = torch::Tensor();
  if (how == "device") b = torch::zeros({}, torch::TensorOptions(torch::kMeta));
  if (how == "unused") loss = w.sum();
  if (how == "shape") {
    w = ToParameter(Tensor::From(std::vector<float>(4))).value();
    loss = w.sum() + b;
  }
  if (how == "dtype") {
    b = ToParameter(Tensor(0.0)).value();
    loss = w.sum() + b;
  }
  // The first time frees what a second one needs.
  if (how == "twice") (loss = torch::pow(w, 2).sum() + b).backward();
  PSTRAIN_RETURN_IF_ERROR(Backward(step, loss, {{kW, w}, {kB, b}}));
  return Values();
}
const Function kWrong{"Wrong", Wrong};

class BackwardTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto strategy = ParameterServerStrategy::Create(StrategyOptions{.ps = 2, .shards = 5});
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    Result<ClusterCoordinator> coordinator = ClusterCoordinator::Create(*strategy);
    ASSERT_TRUE(coordinator.ok()) << coordinator.status().ToString();
    program_ = *std::move(coordinator);
    const auto scope = strategy->Scope();
    const optimizers::Sgd sgd{.learning_rate = 1};
    const auto zeros = initializers::Zeros();
    EXPECT_TRUE(Variable::Create(kW, Shape{3}, zeros, sgd).ok());
    EXPECT_TRUE(Variable::Create(kB, Shape{}, zeros, sgd).ok());
    EXPECT_TRUE(Variable::Create(kItems, Shape{4, 2}, zeros, sgd).ok());
    EXPECT_TRUE(EmbeddingTable::Create(kUsers, Shape{1 << 20, 2}, zeros, sgd).ok());
  }
  template <typename... Params, typename... Args>
  Result<Values> Call(const Function<Params...>& function, Args&&... arguments) {
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue value,
                             program_->Schedule(function, std::forward<Args>(arguments)...));
    const Result<Values> values = value.Fetch(kSoon);
    EXPECT_EQ(program_->Join(kSoon), values.status());
    return values;
  }
  std::vector<float> Read(const std::string& name) {
    const Result<Values> model = Call(kReadModel);
    EXPECT_TRUE(model.ok()) << model.status().ToString();
    return model.ok() ? model->Get(name).value().ToVector<float>().value() : std::vector<float>();
  }

  std::optional<ClusterCoordinator> program_;
};

TEST_F(BackwardTest, OfWholeVariables_TakesAStepOfTheirOptimizers) {
  for (int i = 0; i < 5; ++i) {
    const auto values = Call(kDescend, Tensor::From(std::vector<float>{1, 2, 4}));
    ASSERT_TRUE(values.ok()) << values.status().ToString();
  }
  EXPECT_THAT(Read("w"), ElementsAre(-5, -10, -20));
  EXPECT_THAT(Read("b"), ElementsAre(-15));
}

TEST_F(BackwardTest, OfRows_SumsThoseOfOneId) {
  const auto values = Call(kDescendRows);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_THAT(Read("items"), ElementsAre(0, 0, -5, -5, 0, 0, -2, -2));
  EXPECT_THAT(Read("users"), ElementsAre(0, 0, -5, -5, 0, 0, -2, -2));
}

TEST_F(BackwardTest, WhenAnythingIsWrong_TheErrorNamesItAndNothingChanges) {
  const auto error_of = [this](const char* how) {
    return Call(kWrong, std::string(how)).status().ToString();
  };
  EXPECT_THAT(error_of("vector"),
              HasSubstr("INVALID_ARGUMENT: Wrong: Backward: the loss has 3 elements"));
  EXPECT_THAT(error_of("no loss"),
              HasSubstr("INVALID_ARGUMENT: Wrong: Backward: the loss is an undef"));
  EXPECT_THAT(error_of("constant"),
              HasSubstr("FAILED_PRECONDITION: Wrong: Backward: the loss depends"));
  EXPECT_THAT(
      error_of("undefined"),
      HasSubstr("INVALID_ARGUMENT: Wrong: Backward: parameter of b: it is an undefined tensor"));
  EXPECT_THAT(error_of("device"),
              HasSubstr("UNIMPLEMENTED: Wrong: Backward: parameter of b: it is on meta"));
  EXPECT_THAT(
      error_of("unused"),
      HasSubstr("FAILED_PRECONDITION: Wrong: Backward: parameter of b: it has no gradient"));
  EXPECT_THAT(error_of("twice"), HasSubstr("INTERNAL: Wrong: libtorch: Trying to backward"));
  EXPECT_THAT(error_of("shape"),
              HasSubstr("INVALID_ARGUMENT: Wrong: a gradient of float32 (4) for variable w"));
  EXPECT_THAT(error_of("dtype"), HasSubstr("a gradient of float64 () for variable b"));
  EXPECT_THAT(Read("w"), ElementsAre(0, 0, 0));
  EXPECT_THAT(Read("b"), ElementsAre(0));
}

}  // namespace
}  // namespace pstrain
