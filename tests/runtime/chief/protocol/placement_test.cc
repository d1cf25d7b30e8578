#include "runtime/chief/protocol/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <string>

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

TEST(PartitionCount, AgainstTensorFlow_IsTheSame) {
  std::ifstream in(PSTRAIN_SOURCE_DIR "/tests/golden/partitioners_float32.txt");
  ASSERT_TRUE(in.is_open());
  int cases = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string kind;
    std::int64_t size = 0;
    std::int32_t most = 0;
    std::int64_t expected = 0;
    fields >> kind >> size >> most >> expected;
    std::vector<std::int64_t> shape;
    for (std::int64_t d = 0; fields >> d;) shape.push_back(d);
    EXPECT_EQ(PartitionCount(Partitioner(kind, size, most), shape), expected) << line;
    ++cases;
  }
  EXPECT_GT(cases, 100);
}

TEST(PlacePartitions, WhenRowsDoNotDivide_CoversAxisZeroWithTheLongerSlicesFirst) {
  std::vector<VariableSpec> variables{Variable(VariableSpec::DENSE, {11, 2}),
                                      Variable(VariableSpec::DENSE, {}),
                                      Variable(VariableSpec::EMBEDDING, {100, 4})};
  ASSERT_TRUE(PlacePartitions(Partitioner("fixed", 3, 0), Strategy::LoadAware, 8, &variables).ok());
  ASSERT_EQ(variables[0].partitions_size(), 3);
  EXPECT_EQ(variables[0].partitions(0).size(), 4);
  EXPECT_EQ(variables[0].partitions(1).begin(), 4);
  EXPECT_EQ(variables[0].partitions(2).begin(), 8);
  EXPECT_EQ(variables[0].partitions(2).size(), 3);
  ASSERT_EQ(variables[1].partitions_size(), 1);
  EXPECT_EQ(variables[1].partitions(0).size(), 1);
  EXPECT_EQ(variables[2].partitions_size(), 0);
}

TEST(PlacePartitions, WhenThereAreFewerPartitionsThanShards_EachGetsItsOwn) {
  std::vector<VariableSpec> variables;
  for (int i = 1; i <= 10; ++i) variables.push_back(Variable(VariableSpec::DENSE, {i * 100}));
  ASSERT_TRUE(PlacePartitions({}, Strategy::LoadAware, 64, &variables).ok());
  std::set<std::uint32_t> shards;
  for (const VariableSpec& variable : variables) shards.insert(variable.partitions(0).shard());
  EXPECT_EQ(shards.size(), 10u);
}

TEST(PlacePartitions, WhenRoundRobin_GoesThroughTheShardsInTurn) {
  std::vector<VariableSpec> variables(5, Variable(VariableSpec::DENSE, {7}));
  ASSERT_TRUE(PlacePartitions({}, Strategy::RoundRobin, 3, &variables).ok());
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(variables[i].partitions(0).shard(), i % 3);
  EXPECT_EQ(PlaceShards(variables, Strategy::RoundRobin, 5, 2, 1),
            (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
}

TEST(PlacePartitions, WhenThereIsNoShardOrANegativeDimension_IsInvalid) {
  std::vector<VariableSpec> variables{Variable(VariableSpec::DENSE, {-1})};
  EXPECT_EQ(PlacePartitions({}, Strategy::LoadAware, 0, &variables).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(PlacePartitions({}, Strategy::LoadAware, 4, &variables).code(),
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
  }
  ASSERT_TRUE(
      PlacePartitions(Partitioner("min", 16384, 2), Strategy::LoadAware, 64, &variables).ok());
  for (const std::uint32_t ps_count : {1u, 2u, 3u, 4u}) {
    const std::vector<std::int64_t> load = LoadOfPs(variables, 64, ps_count);
    const std::int64_t total = std::accumulate(load.begin(), load.end(), std::int64_t{0});
    EXPECT_LE(*std::ranges::max_element(load) * ps_count, 2 * total) << ps_count;
    EXPECT_GT(*std::ranges::min_element(load), 0) << ps_count;
  }
}

TEST(PlaceShards, WhenShardsAreEmpty_SpreadsThemEvenly) {
  std::vector<std::uint32_t> ps_of = PlaceShards({}, Strategy::LoadAware, 64, 3, 128);
  EXPECT_EQ(std::ranges::count(ps_of, 0u), 22);
  EXPECT_EQ(std::ranges::count(ps_of, 2u), 21);
}

}  // namespace
}  // namespace pstrain
