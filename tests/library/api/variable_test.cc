// Variables that the strategy's partitioner divides: two ps and two workers as threads of this
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>
#include <pstrain/variable.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

using partitioners::FixedShardsPartitioner;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kSoon{120};

const VariableRef kTable{"table"};

Result<Values> Update(Step& step, const std::string& what, const Tensor& ids,
                      const Tensor& values) {
  if (what == "scatter_add") step.Add(kTable, {ids, values});
  if (what == "scatter_update") step.Assign(kTable, {ids, values});
  if (what == "assign") step.Assign(kTable, values);
  if (what == "add") step.Add(kTable, values);
  if (what == "gradient") step.Gradient(kTable, values);
  if (what == "gradient of rows") step.Gradient(kTable, {ids, values});
  return Values();
}
const Function kUpdate{"Update", Update};

Result<Values> ReadTable(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor table, step.Read(kTable));
  return Values{{"table", table}};
}
const Function kReadTable{"ReadTable", ReadTable};

Result<Values> LookupTable(Step& step, const Tensor& ids) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor rows, step.Lookup(kTable, ids));
  return Values{{"rows", rows}};
}
const Function kLookupTable{"LookupTable", LookupTable};

class VariableTest : public testing::Test {
 protected:
  void Start(Partitioner partitioner) {
    auto strategy = ParameterServerStrategy::Create(
        {.ps = 2, .workers = 2, .shards = 8, .variable_partitioner = std::move(partitioner)});
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    strategy_ = *std::move(strategy);
    program_ = *ClusterCoordinator::Create(*strategy_);
  }
  Result<Variable> Declare(Shape shape, initializers::Initializer initializer = {},
                           optimizers::Optimizer optimizer = optimizers::None{},
                           const VariableRef& ref = kTable) {
    const auto scope = strategy_->Scope();
    return Variable::Create(ref, std::move(shape), initializer, std::move(optimizer));
  }
  template <typename... Params, typename... Args>
  Values Call(const Function<Params...>& function, Args&&... arguments) {
    const auto scheduled = program_->Schedule(function, std::forward<Args>(arguments)...);
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    const Result<Values> values = scheduled->Fetch(kSoon);
    EXPECT_TRUE(values.ok()) << values.status().ToString();
    EXPECT_EQ(program_->Join(kSoon), OkStatus());
    return values.ok() ? *values : Values();
  }
  std::vector<float> Table() {
    const Values read = Call(kReadTable);
    return read.empty() ? std::vector<float>() : *read.Find("table")->ToVector<float>();
  }

  std::optional<ParameterServerStrategy> strategy_;
  std::optional<ClusterCoordinator> program_;
};

Tensor Matrix(const Json& rows) {
  std::vector<float> elements;
  for (const Json& row : rows.items()) {
    for (const Json& element : row.items()) {
      elements.push_back(static_cast<float>(*element.AsDouble()));
    }
  }
  const auto count = static_cast<std::int64_t>(rows.items().size());
  const auto dimension = static_cast<std::int64_t>(elements.size()) / count;
  return *Tensor::From(Shape{count, dimension}, std::move(elements));
}

Tensor Ids(const Json& list) {
  std::vector<std::int64_t> ids;
  for (const Json& id : list.items()) ids.push_back(*id.AsInt64());
  return Tensor::From(std::move(ids));
}

/// (rows, 2) of 0, 1, 2, ...
Tensor Counting(std::int64_t rows) {
  std::vector<float> values(static_cast<std::size_t>(2 * rows));
  std::iota(values.begin(), values.end(), 0.0F);
  return *Tensor::From(Shape{rows, 2}, std::move(values));
}

TEST_F(VariableTest, WhenDivided_PartitionsAreTensorFlowsSlices) {
  Start(FixedShardsPartitioner(5));
  const auto divided = Declare({13, 2});
  ASSERT_TRUE(divided.ok()) << divided.status().ToString();
  const std::vector<VariablePartition> parts = divided->partitions();
  ASSERT_EQ(parts.size(), 5U);
  const std::int64_t offsets[] = {0, 3, 6, 9, 11};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(parts[i].name, "table/part_" + std::to_string(i));
    EXPECT_EQ(parts[i].offset, offsets[i]);
    EXPECT_EQ(parts[i].shape, (Shape{i < 3 ? 3 : 2, 2}));
  }
  const auto whole = [&](const char* name, Shape shape) {
    const auto variable = Declare(shape, {}, optimizers::None{}, VariableRef{name});
    ASSERT_TRUE(variable.ok());
    EXPECT_EQ(variable->partitions(), (std::vector<VariablePartition>{{name, 0, shape}}));
  };
  whole("scalar", {});
  whole("one row", {1, 4});
  EXPECT_EQ(Declare({3}, {}, optimizers::None{}, {"three"})->partitions().size(), 3U);
  EXPECT_TRUE(Declare({13, 2}).ok()) << "the same again";
}

TEST_F(VariableTest, WithoutAPartitioner_IsWhole) {
  Start({});
  const auto variable = Declare({1000, 100});
  ASSERT_TRUE(variable.ok());
  EXPECT_EQ(variable->partitions().size(), 1U);
}

TEST_F(VariableTest, WhenDivided_ReadsAndUpdatesAreOfTheWhole) {
  Start(FixedShardsPartitioner(3));
  auto variable = Declare({7, 2}, {}, optimizers::Sgd{.learning_rate = 0.5});
  ASSERT_TRUE(variable.ok());
  ASSERT_EQ(variable->Assign(Counting(7), kSoon), OkStatus());
  std::vector<float> expected(14);
  std::iota(expected.begin(), expected.end(), 0.0F);
  EXPECT_EQ(Table(), expected);
  const Tensor none = Tensor::From(std::vector<std::int64_t>{});
  for (const char* what : {"add", "gradient"}) Call(kUpdate, what, none, Counting(7));
  for (float& value : expected) value += 0.5F * value;
  EXPECT_EQ(Table(), expected);
  Call(kUpdate, "gradient of rows", Tensor::From(std::vector<std::int64_t>{2, 3, 2}), Counting(3));
  for (std::size_t k = 0; k < 2; ++k) {
    const auto column = static_cast<float>(k);
    expected[4 + k] -= 0.5F * (column + 4 + column);
    expected[6 + k] -= 0.5F * (2 + column);
  }
  EXPECT_EQ(Table(), expected);
  Call(kUpdate, "assign", none, Counting(7));
  EXPECT_EQ(Table()[13], 13);
}

TEST_F(VariableTest, WhenDivided_StartsAsTheSameVariableThatIsWhole) {
  const auto begin = [&](Partitioner partitioner) {
    Start(std::move(partitioner));
    EXPECT_TRUE(Declare({9, 2}, initializers::RandomUniform(1, 5)).ok());
    return Table();
  };
  const std::vector<float> whole = begin({});
  EXPECT_EQ(begin(FixedShardsPartitioner(4)), whole);
  EXPECT_EQ(whole.size(), 18U);
}

TEST_F(VariableTest, AgainstTensorFlow_ScattersAndLookupsAreTheSame) {
  const Json golden = ReadGolden("sharded_variables.json");
  Start(FixedShardsPartitioner(4));
  auto variable = Declare({9, 2});
  ASSERT_TRUE(variable.ok());
  int cases = 0;
  for (const Json& one : golden.Find("scatter")->items()) {
    const std::string op = *one.Find("op")->AsString();
    if (op != "scatter_add" && op != "scatter_update") continue;
    ++cases;
    ASSERT_EQ(variable->Assign(Counting(9), kSoon), OkStatus());
    Call(kUpdate, op, Ids(*one.Find("ids")), Matrix(*one.Find("values")));
    EXPECT_EQ(Table(), *Matrix(*one.Find("after")).ToVector<float>()) << op;
  }
  ASSERT_EQ(variable->Assign(Counting(9), kSoon), OkStatus());
  for (const Json& one : golden.Find("reads")->items()) {
    const Json& expected = *one.Find("embedding_lookup")->Find("eager");
    if (expected.items().empty()) continue;
    ++cases;
    const Values read = Call(kLookupTable, Ids(*one.Find("ids")));
    EXPECT_EQ(*read.Find("rows"), Matrix(expected));
  }
  EXPECT_GE(cases, 5);
}

TEST_F(VariableTest, WhenThePartitionerIsWrong_TheErrorSaysWhy) {
  const Status size = ParameterServerStrategy::Create(
                          {.variable_partitioner = partitioners::MinSizePartitioner(0, 2)})
                          .status();
  EXPECT_EQ(size.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(size.message(), HasSubstr("StrategyOptions.variable_partitioner"));
  EXPECT_THAT(size.message(), HasSubstr("min_shard_bytes is 0"));
  using Said = Result<std::vector<std::int64_t>>;
  Start([](const Shape& shape, DType) -> Said {
    if (shape.rank() == 2) return std::vector<std::int64_t>{2, 2};
    if (shape.rank() == 3) return std::vector<std::int64_t>{};
    if (shape[0] == 2) return std::vector<std::int64_t>{3};
    if (shape[0] == 1 << 20) return std::vector<std::int64_t>{1 << 20};
    throw std::runtime_error("of its own");
  });
  const std::pair<Shape, std::pair<StatusCode, const char*>> cases[] = {
      {{6, 2}, {StatusCode::kInvalidArgument, "only the first one is divided"}},
      {{6, 1, 1}, {StatusCode::kInvalidArgument, "no number of partitions"}},
      {{2}, {StatusCode::kInvalidArgument, "more than there are rows"}},
      {{1 << 20}, {StatusCode::kInvalidArgument, "4096 at most"}},
      {{7}, {StatusCode::kInternal, "the partitioner has thrown: of its own"}}};
  for (const auto& [shape, expected] : cases) {
    const Status status = Declare(shape).status();
    EXPECT_EQ(status.code(), expected.first) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(expected.second));
    EXPECT_THAT(status.message(), HasSubstr("variable table"));
  }
  EXPECT_TRUE(Declare({}).ok()) << "it is not asked about a scalar";
  const auto scope = strategy_->Scope();
  EXPECT_TRUE(EmbeddingTable::Create({"rows"}, {6, 2}).ok()) << "nor about a table";
}

}  // namespace
}  // namespace pstrain
