#include "runtime/chief/protocol/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "base/text/json.h"
#include "runtime/requests/dtype.h"
#include "runtime/requests/routing.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

VariableSpec Variable(VariableSpec::Kind kind, const std::vector<std::int64_t>& shape) {
  VariableSpec variable;
  variable.set_name("v");
  variable.set_kind(kind);
  for (const std::int64_t d : shape) variable.add_shape(d);
  return variable;
}

VariablePartitioner Partitioner(const std::string& kind, std::int64_t size, std::int32_t most) {
  VariablePartitioner partitioner;
  if (kind == "fixed") {
    partitioner.mutable_fixed_shards()->set_num_shards(static_cast<std::int32_t>(size));
  } else if (kind == "min") {
    partitioner.mutable_min_size()->set_min_shard_bytes(size);
    partitioner.mutable_min_size()->set_max_shards(most);
  } else {
    partitioner.mutable_max_size()->set_max_shard_bytes(size);
    if (most > 0) partitioner.mutable_max_size()->set_max_shards(most);
  }
  return partitioner;
}

/// The rule of partitioners.json, as a job names it; nothing: one that no job may have.
std::optional<VariablePartitioner> RuleOf(const Json& rule) {
  const Json& args = *rule.Find("args");
  const auto number = [&args](const char* name) -> std::int64_t {
    const Json* value = args.Find(name);
    return value == nullptr || value->is_null() ? 0 : value->AsInt64().value_or(0);
  };
  const std::string& name = *rule.Find("partitioner")->AsString();
  const std::int64_t size = number(name == "FixedShardsPartitioner" ? "num_shards"
                                   : name == "MinSizePartitioner"   ? "min_shard_bytes"
                                                                    : "max_shard_bytes");
  if (size < 1 || rule.Find("ctor") != nullptr) return std::nullopt;
  const char* kind = name == "FixedShardsPartitioner" ? "fixed"
                     : name == "MinSizePartitioner"   ? "min"
                                                      : "max";
  return Partitioner(kind, size, static_cast<std::int32_t>(number("max_shards")));
}

/// How many cases [shape, dtype, partitions] of the rule are of a dtype that a variable has.
int ExpectCases(const Json& rule, const VariablePartitioner& partitioner) {
  static const std::map<std::string, DType> kDTypes{{"float32", DType::kFloat32},
                                                    {"float64", DType::kFloat64},
                                                    {"int32", DType::kInt32},
                                                    {"int64", DType::kInt64}};
  int cases = 0;
  for (const Json& one : rule.Find("cases_shape_dtype_partitions")->items()) {
    const auto dtype = kDTypes.find(*one.items()[1].AsString());
    // What TensorFlow refuses, a scalar above all, is one partition here.
    if (dtype == kDTypes.end() || one.items()[2].is_object()) continue;
    std::vector<std::int64_t> shape;
    for (const Json& size : one.items()[0].items()) shape.push_back(size.AsInt64().value_or(-1));
    EXPECT_EQ(PartitionCount(partitioner, shape, dtype->second),
              one.items()[2].items()[0].AsInt64().value_or(-1))
        << partitioner.ShortDebugString() << " " << WriteJson(one);
    ++cases;
  }
  return cases;
}

TEST(PartitionCount, AgainstTensorFlow_IsTheSame) {
  const Json golden = ReadGolden("partitioners.json");
  const Json* rules = golden.Find("v2");
  ASSERT_NE(rules, nullptr);
  int cases = 0;
  for (const Json& rule : rules->items()) {
    const std::optional<VariablePartitioner> partitioner = RuleOf(rule);
    if (partitioner) cases += ExpectCases(rule, *partitioner);
  }
  EXPECT_GT(cases, 400);
}

TEST(PartitionCount, OfFloat64_CountsEightBytes) {
  EXPECT_EQ(PartitionCount(Partitioner("min", 16, 10), {6, 1}, DType::kFloat32), 2);
  EXPECT_EQ(PartitionCount(Partitioner("min", 16, 10), {6, 1}, DType::kFloat64), 3);
  EXPECT_EQ(PartitionCount(Partitioner("max", 16, 0), {6, 1}, DType::kInt32), 2);
  EXPECT_EQ(PartitionCount(Partitioner("max", 16, 0), {6, 1}, DType::kInt64), 3);
  std::vector<VariableSpec> variables{Variable(VariableSpec::DENSE, {6, 1})};
  variables[0].set_dtype(VariableSpec::FLOAT64);
  ASSERT_TRUE(
      PlacePartitions(Partitioner("min", 16, 10), Strategy::LoadAware, 8, 0, &variables).ok());
  EXPECT_EQ(variables[0].partitions_size(), 3);
}

TEST(PlacePartitions, WhenRowsDoNotDivide_CoversAxisZeroWithTheLongerSlicesFirst) {
  std::vector<VariableSpec> variables{Variable(VariableSpec::DENSE, {11, 2}),
                                      Variable(VariableSpec::DENSE, {}),
                                      Variable(VariableSpec::EMBEDDING, {100, 4})};
  ASSERT_TRUE(
      PlacePartitions(Partitioner("fixed", 3, 0), Strategy::LoadAware, 8, 0, &variables).ok());
  ASSERT_EQ(variables[0].partitions_size(), 3);
  EXPECT_EQ(variables[0].partitions(0).size(), 4);
  EXPECT_EQ(variables[0].partitions(1).begin(), 4);
  EXPECT_EQ(variables[0].partitions(2).begin(), 8);
  EXPECT_EQ(variables[0].partitions(2).size(), 3);
  ASSERT_EQ(variables[1].partitions_size(), 1);
  EXPECT_EQ(variables[1].partitions(0).size(), 1);
  EXPECT_EQ(variables[2].partitions_size(), 0);
}

// A program says it for each variable.
TEST(PlacePartitions, WhenAVariableHasItsNumber_TheJobsPartitionerIsNotAsked) {
  std::vector<VariableSpec> variables(2, Variable(VariableSpec::DENSE, {11, 2}));
  for (int i = 0; i < 4; ++i) variables[0].add_partitions();
  variables[1].add_partitions();
  ASSERT_TRUE(
      PlacePartitions(Partitioner("fixed", 3, 0), Strategy::LoadAware, 8, 0, &variables).ok());
  ASSERT_EQ(variables[0].partitions_size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(variables[0].partitions(i).begin(), 3 * i);
    EXPECT_EQ(variables[0].partitions(i).size(), i < 3 ? 3 : 2);
  }
  EXPECT_EQ(variables[1].partitions_size(), 1);
}

std::vector<std::uint32_t> ShardsOf(const VariableSpec& variable) {
  std::vector<std::uint32_t> shards;
  for (const Partition& partition : variable.partitions()) shards.push_back(partition.shard());
  return shards;
}

// Whether a run ends as it would have ended may not depend on what else its program declares.
TEST(PlacePartitions, WhateverElseIsDeclared_AVariableLiesWhereItsNameSays) {
  const auto place = [](const std::vector<std::string>& names) {
    std::vector<VariableSpec> variables;
    for (const std::string& name : names) {
      variables.push_back(Variable(VariableSpec::DENSE, {7}));
      variables.back().set_name(name);
    }
    EXPECT_TRUE(
        PlacePartitions(Partitioner("fixed", 3, 0), Strategy::LoadAware, 64, 0, &variables).ok());
    std::map<std::string, std::vector<std::uint32_t>> shards;
    for (const VariableSpec& variable : variables) shards[variable.name()] = ShardsOf(variable);
    return shards;
  };
  const auto alone = place({"w"});
  const auto among = place({"b", "w", "late"});
  EXPECT_EQ(among.at("w"), alone.at("w"));
  EXPECT_NE(among.at("b"), alone.at("w"));
  // What is stored on disk somewhere must be found again.
  EXPECT_EQ(RouteOf("w"), 0xaf63ea4c86020456ULL);
  EXPECT_EQ(ShardOfRow(RouteOf("w"), 7, 64), ShardOfRow(0xaf63ea4c86020456ULL, 7, 64));
  EXPECT_NE(ShardOfRow(RouteOf("w"), 7, 1 << 20), ShardOfRow(RouteOf("b"), 7, 1 << 20));
}

TEST(PlacePartitions, WhenThereAreFewerPartitionsThanShards_NoTwoOfOneVariableMeet) {
  std::vector<VariableSpec> variables;
  for (int i = 1; i <= 10; ++i) variables.push_back(Variable(VariableSpec::DENSE, {i * 100}));
  for (int i = 0; i < 10; ++i)
    variables[static_cast<std::size_t>(i)].set_name("v" + std::to_string(i));
  ASSERT_TRUE(
      PlacePartitions(Partitioner("fixed", 60, 0), Strategy::LoadAware, 64, 0, &variables).ok());
  for (const VariableSpec& variable : variables) {
    const std::vector<std::uint32_t> shards = ShardsOf(variable);
    EXPECT_EQ(std::set<std::uint32_t>(shards.begin(), shards.end()).size(), 60u);
  }
}

TEST(PlacePartitions, WhenThereAreManyVariables_FillsTheShardsEvenly) {
  std::vector<VariableSpec> variables;
  for (int i = 0; i < 6400; ++i) {
    variables.push_back(Variable(VariableSpec::DENSE, {2000}));
    variables.back().set_name("tower/layer_" + std::to_string(i) + "/bias");
  }
  ASSERT_TRUE(PlacePartitions({}, Strategy::LoadAware, 64, 0, &variables).ok());
  std::vector<int> counts(64, 0);
  for (const VariableSpec& variable : variables) ++counts[variable.partitions(0).shard()];
  EXPECT_GT(*std::ranges::min_element(counts), 60);
  EXPECT_LT(*std::ranges::max_element(counts), 145);
}

TEST(PlacePartitions, WhenRoundRobin_GoesThroughTheShardsInTurn) {
  std::vector<VariableSpec> variables(5, Variable(VariableSpec::DENSE, {7}));
  ASSERT_TRUE(PlacePartitions({}, Strategy::RoundRobin, 3, 0, &variables).ok());
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(variables[i].partitions(0).shard(), i % 3);
  EXPECT_EQ(PlaceShards(variables, Strategy::RoundRobin, 5, 2, 1),
            (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
  std::vector<VariableSpec> later(1, Variable(VariableSpec::DENSE, {7}));
  ASSERT_TRUE(PlacePartitions({}, Strategy::RoundRobin, 3, 5, &later).ok());
  EXPECT_EQ(later[0].partitions(0).shard(), 2u);
}

/// Dense variables of these numbers of float32, named by their ids.
std::vector<VariableSpec> DenseOf(const std::vector<std::int64_t>& sizes) {
  std::vector<VariableSpec> variables;
  for (const std::int64_t size : sizes) {
    VariableSpec& variable = variables.emplace_back(Variable(VariableSpec::DENSE, {size}));
    variable.set_id(static_cast<std::uint32_t>(variables.size()) - 1);
    variable.set_name("v" + std::to_string(variable.id()));
    variable.mutable_optimizer()->mutable_sgd();
  }
  return variables;
}
std::vector<std::uint32_t> PacksOf(const std::vector<VariableSpec>& variables) {
  std::vector<std::uint32_t> packs;
  for (const VariableSpec& variable : variables) packs.push_back(variable.pack());
  return packs;
}

TEST(PlacePartitions, SmallVariablesOfOneKind_MakeAPackInTheShardOfItsFirst) {
  std::vector<VariableSpec> variables = DenseOf({5000, 1, 1024, 1025, 3, 4, 2});
  variables[4].set_dtype(VariableSpec::FLOAT64);
  variables[5].clear_optimizer();
  ASSERT_TRUE(PlacePartitions({}, Strategy::LoadAware, 64, 0, &variables).ok());
  // Without the large ones, and one alone of each other kind.
  EXPECT_EQ(PacksOf(variables), (std::vector<std::uint32_t>{0, 2, 2, 0, 0, 0, 2}));
  const std::uint32_t shard = variables[1].partitions(0).shard();
  EXPECT_EQ(shard, ShardOfPartition(RouteOf("v1"), 0, 64));
  EXPECT_EQ(variables[2].partitions(0).shard(), shard);
  EXPECT_EQ(variables[6].partitions(0).shard(), shard);
  EXPECT_EQ(variables[0].partitions(0).shard(), ShardOfPartition(RouteOf("v0"), 0, 64));
}

// A variable of 4 KiB is the largest in a pack.
TEST(PlacePartitions, WhatIsSmall_IsCountedInBytes) {
  std::vector<VariableSpec> variables = DenseOf({512, 512, 513});
  for (VariableSpec& variable : variables) variable.set_dtype(VariableSpec::INT64);
  ASSERT_TRUE(PlacePartitions({}, Strategy::LoadAware, 64, 0, &variables).ok());
  EXPECT_EQ(PacksOf(variables), (std::vector<std::uint32_t>{1, 1, 0}));
}

TEST(PlacePartitions, WhenAPackIsFull_TheNextOneBegins) {
  std::vector<VariableSpec> variables = DenseOf(std::vector<std::int64_t>(40, 1024));
  ASSERT_TRUE(PlacePartitions({}, Strategy::LoadAware, 64, 0, &variables).ok());
  std::map<std::uint32_t, int> sizes;
  for (const VariableSpec& variable : variables) ++sizes[variable.pack()];
  EXPECT_EQ(sizes, (std::map<std::uint32_t, int>{{1, 16}, {17, 16}, {33, 8}}));
}

TEST(PlacePartitions, WhatIsPartitioned_IsInNoPack) {
  for (const Strategy::Placement placement : {Strategy::LoadAware, Strategy::RoundRobin}) {
    std::vector<VariableSpec> variables = DenseOf({8, 8});
    ASSERT_TRUE(PlacePartitions(Partitioner("fixed", 2, 0), placement, 64, 0, &variables).ok());
    EXPECT_EQ(PacksOf(variables), (std::vector<std::uint32_t>{0, 0}));
  }
}

// Each keeps its turn, also what is in no pack.
TEST(PlacePartitions, WhenRoundRobin_ThoseOfOneShardShareAPack) {
  std::vector<VariableSpec> variables = DenseOf({8, 1, 5000, 2, 8, 3, 4, 5, 6});
  variables[6].set_dtype(VariableSpec::INT32);
  ASSERT_TRUE(PlacePartitions({}, Strategy::RoundRobin, 3, 7, &variables).ok());
  std::vector<std::uint32_t> shards;
  for (const VariableSpec& variable : variables) shards.push_back(ShardsOf(variable).at(0));
  EXPECT_EQ(shards, (std::vector<std::uint32_t>{1, 2, 0, 1, 2, 0, 1, 2, 0}));
  // Shard 1: 0 and 3, and 6 of another dtype. Shard 2: 1, 4 and 7. Shard 0: the large 2, 5 and 8.
  EXPECT_EQ(PacksOf(variables), (std::vector<std::uint32_t>{1, 2, 0, 1, 2, 6, 0, 2, 6}));
}

TEST(PlacePartitions, WhenRoundRobinAndAPackIsFull_TheNextOneOfThatShardBegins) {
  std::vector<VariableSpec> variables = DenseOf(std::vector<std::int64_t>(40, 1024));
  ASSERT_TRUE(PlacePartitions({}, Strategy::RoundRobin, 2, 0, &variables).ok());
  std::map<std::uint32_t, int> sizes;
  for (const VariableSpec& variable : variables) {
    ++sizes[variable.pack()];
    EXPECT_EQ(ShardsOf(variable), std::vector<std::uint32_t>{variable.id() % 2});
  }
  EXPECT_EQ(sizes, (std::map<std::uint32_t, int>{{1, 16}, {2, 16}, {33, 4}, {34, 4}}));
}

TEST(PlacePartitions, WhenThereIsNoShardOrANegativeDimension_IsInvalid) {
  std::vector<VariableSpec> variables{Variable(VariableSpec::DENSE, {-1})};
  EXPECT_EQ(PlacePartitions({}, Strategy::LoadAware, 0, 0, &variables).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(PlacePartitions({}, Strategy::LoadAware, 4, 0, &variables).code(),
            StatusCode::kInvalidArgument);
}

std::vector<std::int64_t> LoadOfPs(const std::vector<VariableSpec>& variables, std::uint32_t shards,
                                   std::uint32_t ps_count) {
  const std::vector<std::int64_t> traffic = ShardTraffic(variables, shards, 128);
  const std::vector<std::uint32_t> ps_of =
      PlaceShards(variables, Strategy::LoadAware, shards, ps_count, 128);
  std::vector<std::int64_t> load(ps_count, 0);
  for (std::uint32_t s = 0; s < shards; ++s) load[ps_of[s]] += traffic[s];
  return load;
}

TEST(PlaceShards, WhenThereAreFewDenseVariables_TrafficOverPsIsWithinTwiceTheMean) {
  // A wide and deep model: 8 tables, an MLP of 136-100-50-1 and its biases.
  std::vector<VariableSpec> variables(8, Variable(VariableSpec::EMBEDDING, {1000, 8}));
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{136, 100}, {100}, {100, 50}, {50}, {50, 1}, {1}}) {
    variables.push_back(Variable(VariableSpec::DENSE, shape));
    variables.back().set_name("layer" + std::to_string(variables.size()));
  }
  ASSERT_TRUE(
      PlacePartitions(Partitioner("min", 16384, 2), Strategy::LoadAware, 64, 0, &variables).ok());
  for (const std::uint32_t ps_count : {1u, 2u, 3u, 4u}) {
    const std::vector<std::int64_t> load = LoadOfPs(variables, 64, ps_count);
    const std::int64_t total = std::accumulate(load.begin(), load.end(), std::int64_t{0});
    EXPECT_LE(*std::ranges::max_element(load) * ps_count, 2 * total) << ps_count;
    EXPECT_GT(*std::ranges::min_element(load), 0) << ps_count;
  }
}

TEST(ShardTraffic, CountsBytesOfTheDType) {
  std::vector<VariableSpec> variables{Variable(VariableSpec::DENSE, {5}),
                                      Variable(VariableSpec::EMBEDDING, {100, 4})};
  variables[0].add_partitions()->set_size(5);
  EXPECT_EQ(ShardTraffic(variables, 1, 10), (std::vector<std::int64_t>{5 * 4 + 10 * 4 * 4}));
  variables[0].set_dtype(VariableSpec::FLOAT64);
  variables[1].set_dtype(VariableSpec::INT64);
  EXPECT_EQ(ShardTraffic(variables, 1, 10), (std::vector<std::int64_t>{5 * 8 + 10 * 4 * 8}));
}

TEST(PlaceShards, WhenShardsAreEmpty_SpreadsThemEvenly) {
  std::vector<std::uint32_t> ps_of = PlaceShards({}, Strategy::LoadAware, 64, 3, 128);
  EXPECT_EQ(std::ranges::count(ps_of, 0u), 22);
  EXPECT_EQ(std::ranges::count(ps_of, 2u), 21);
}

}  // namespace
}  // namespace pstrain
