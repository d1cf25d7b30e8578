// Embedding tables as programs have them: two ps and two workers as threads of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/embedding_table.h>
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kSoon{120};
/// Far more than anything could hold.
constexpr std::int64_t kRows = std::int64_t{1} << 50;
constexpr std::int64_t kDimension = 3;

const VariableRef kUsers{"users"}, kCounts{"counts"};

/// Two ids of which one comes twice, and integers, so that sums are exact in any order.
Result<Values> Visit(Step& step, std::int64_t id) {
  const Tensor ids = Tensor::From(std::vector<std::int64_t>{id % 7, id % 5 * (kRows / 5), id % 7});
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor rows, step.Lookup(kUsers, ids));
  if (rows.shape() != Shape{3, kDimension}) return InternalError(rows.ToString());
  PSTRAIN_ASSIGN_OR_RETURN(
      const Tensor gradient,
      Tensor::From(Shape{3, kDimension}, std::vector<float>{1, 2, 3, 1, 1, 1, 10, 20, 30}));
  step.Gradient(kUsers, {ids, gradient});
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor ones,
                           Tensor::From(Shape{3, 1}, std::vector<std::int64_t>{1, 1, 1}));
  step.Add(kCounts, {ids, ones});
  return Values();
}
const Function kVisit{"Visit", Visit};

Result<Values> LookupBoth(Step& step, const Tensor& ids) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto rows, step.Lookup({{kUsers, ids}, {kCounts, ids}}));
  return Values{{"users", rows[0]}, {"counts", rows[1]}};
}
const Function kLookupBoth{"LookupBoth", LookupBoth};

class EmbeddingTableTest : public testing::Test {
 protected:
  void SetUp() override {
    auto strategy = ParameterServerStrategy::Create({.ps = 2, .workers = 2, .shards = 5});
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    strategy_ = *std::move(strategy);
    auto coordinator = ClusterCoordinator::Create(*strategy_);
    ASSERT_TRUE(coordinator.ok());
    program_ = *std::move(coordinator);
  }
  void Declare(initializers::Initializer initializer = initializers::Zeros()) {
    const auto scope = strategy_->Scope();
    const auto users = EmbeddingTable::Create(kUsers, Shape{kRows, kDimension}, initializer,
                                              optimizers::Sgd{.learning_rate = 1});
    ASSERT_TRUE(users.ok()) << users.status().ToString();
    EXPECT_EQ(users->name(), "users");
    EXPECT_EQ(users->shape(), (Shape{kRows, kDimension}));
    EXPECT_EQ(users->dimension(), kDimension);
    EXPECT_EQ(users->dtype(), DType::kFloat32);
    const auto counts = EmbeddingTable::Create(kCounts, Shape{kRows, 1}, initializers::Zeros(),
                                               optimizers::None{}, DType::kInt64);
    ASSERT_TRUE(counts.ok()) << counts.status().ToString();
  }
  Values RowsOf(const std::vector<std::int64_t>& ids) {
    EXPECT_EQ(program_->Join(kSoon), OkStatus());
    const auto scheduled = program_->Schedule(kLookupBoth, Tensor::From(ids));
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    const Result<Values> values = scheduled->Fetch(kSoon);
    EXPECT_TRUE(values.ok()) << values.status().ToString();
    return values.ok() ? *values : Values();
  }

  std::optional<ParameterServerStrategy> strategy_;
  std::optional<ClusterCoordinator> program_;
};

TEST_F(EmbeddingTableTest, WhenCallsPushRows_EachIdGetsItsGradientsOnce) {
  Declare();
  constexpr std::int64_t kCalls = 350;
  for (std::int64_t i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(program_->Schedule(kVisit, i).ok());
  }
  std::vector<std::int64_t> ids(7);
  std::iota(ids.begin(), ids.end(), 0);
  for (std::int64_t i = 1; i < 5; ++i) ids.push_back(i * (kRows / 5));
  ids.push_back(kRows - 1);  // nobody has touched it
  const Values values = RowsOf(ids);
  const auto users = values.Find("users")->ToVector<float>();
  const auto counts = values.Find("counts")->ToVector<std::int64_t>();
  ASSERT_TRUE(users.ok() && counts.ok());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t twice = ids[i] < 7 ? kCalls / 7 : 0;
    const std::int64_t once = ids[i] % (kRows / 5) == 0 ? kCalls / 5 : 0;
    EXPECT_EQ((*counts)[i], 2 * twice + once) << ids[i];
    for (std::int64_t k = 0; k < kDimension; ++k) {
      const auto at = i * kDimension + static_cast<std::size_t>(k);
      EXPECT_EQ((*users)[at], -static_cast<float>(11 * (k + 1) * twice + once)) << ids[i];
    }
  }
  EXPECT_EQ(*program_->Finish(), 0);
}

TEST_F(EmbeddingTableTest, WhenARowIsFirstTouched_ItsValuesFollowFromItsId) {
  Declare(initializers::RandomUniform(0.5, 11));
  const std::vector<std::int64_t> ids = {3, kRows - 1, 3, 4};
  const Values values = RowsOf(ids);
  const auto users = values.Find("users")->ToVector<float>();
  ASSERT_TRUE(users.ok());
  for (const float value : *users) EXPECT_TRUE(value >= -0.5F && value < 0.5F && value != 0);
  const std::vector<float> first(users->begin(), users->begin() + kDimension);
  const std::vector<float> again(users->begin() + 2 * kDimension, users->begin() + 3 * kDimension);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, std::vector<float>(users->begin() + 3 * kDimension, users->end()));
  EXPECT_EQ(RowsOf(ids), values) << "a lookup changes nothing";
}

TEST_F(EmbeddingTableTest, WhenDeclaredWrongly_ItSaysWhy) {
  EXPECT_EQ(EmbeddingTable::Create(kUsers, Shape{2, 2}).status().code(),
            StatusCode::kFailedPrecondition);
  Declare();
  const auto scope = strategy_->Scope();
  const auto error_of = [](const VariableRef& ref, Shape shape, DType dtype = DType::kFloat32) {
    return EmbeddingTable::Create(ref, std::move(shape), initializers::Zeros(), optimizers::None{},
                                  dtype)
        .status();
  };
  EXPECT_EQ(error_of(kUsers, {7, 3}).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(Variable::Create(kUsers, {kRows, kDimension}).status().code(),
            StatusCode::kAlreadyExists);
  const Status rank = error_of({"rank"}, Shape{7});
  EXPECT_EQ(rank.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(rank.message(), HasSubstr("the shape of an embedding has two numbers"));
  EXPECT_EQ(error_of({"none"}, {0, 3}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of({"large"}, {kRows, 1 << 10}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of({"long"}, {2, 1 << 25}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of({"text"}, {7, 3}, DType::kString).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of({""}, {7, 3}).code(), StatusCode::kInvalidArgument);
  const Status open = error_of({"open"}, {Shape::kUnknown, 3});
  EXPECT_EQ(open.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(open.message(), HasSubstr("rows that nobody touches cost nothing"));
}

}  // namespace
}  // namespace pstrain
