#include "runtime/checkpoint/checkpoint_chain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/digest.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::WriteCheckpointOf;

constexpr std::uint32_t kShards = 2;

/// Three checkpoints of a run: 1-1 is whole, each of the others builds on the one before.
class CheckpointChainTest : public testing::Test {
 protected:
  void SetUp() override {
    catalog_ = *Catalog::Create(variables_, kShards, checkpoint_test::kBatches);
    for (ShardId shard = 0; shard < kShards; ++shard) {
      states_.push_back(checkpoint_test::State(*catalog_, shard));
      std::ranges::reverse(states_.back().tables[0].keys);
      ReverseRows(&states_.back().tables[0]);
    }
    Write({1, 1}, {}, "");
    for (ShardState& state : states_) state.applied.Insert({0, 2});
    Write({1, 2}, {0}, "1-1");
    Write({1, 3}, {1, 2}, "1-2");
    // The same state, whole, in a run of its own.
    whole_ = WriteCheckpointOf(other_run_.path(), {1, 1}, variables_, states_);
  }

  static void ReverseRows(TableState* table) {
    for (std::vector<float>* values : {&table->values.of<float>(), &table->slots[0].of<float>()}) {
      std::vector<float> reversed;
      for (std::size_t row = table->keys.size(); row-- > 0;) {
        reversed.insert(reversed.end(), &(*values)[3 * row], &(*values)[3 * row] + 3);
      }
      *values = reversed;
    }
  }

  /// Changes the rows at these places of every shard, then writes a checkpoint that holds only
  /// them.
  void Write(CheckpointId id, const std::vector<std::size_t>& rows, const std::string& base) {
    std::vector<ShardState> checkpoint_shards;
    for (ShardState& state : states_) {
      TableState& table = state.tables[0];
      std::vector<float>& values = table.values.of<float>();
      std::vector<float>& slot = table.slots[0].of<float>();
      ShardState checkpoint_shard = state;
      checkpoint_shard.incremental = !base.empty();
      if (checkpoint_shard.incremental) checkpoint_shard.tables[0] = {1, {}, {}, {{}}};
      for (const std::size_t row : rows) {
        for (std::size_t i = 3 * row; i < 3 * row + 3; ++i) {
          values[i] += static_cast<float>(id.number);
          slot[i] *= 2;
          checkpoint_shard.tables[0].values.of<float>().push_back(values[i]);
          checkpoint_shard.tables[0].slots[0].of<float>().push_back(slot[i]);
        }
        checkpoint_shard.tables[0].keys.push_back(table.keys[row]);
      }
      checkpoint_shards.push_back(std::move(checkpoint_shard));
    }
    WriteCheckpointOf(run_.path(), id, variables_, checkpoint_shards, base);
  }

  std::string Checkpoint(std::uint64_t number) const {
    return CheckpointDirectory(run_.path(), {1, number});
  }
  std::string CheckpointShard(std::uint64_t number) const {
    return JoinPath(Checkpoint(number), "shard-1");
  }

  const std::vector<VariableSpec> variables_ = checkpoint_test::Variables(kShards);
  std::shared_ptr<const Catalog> catalog_;
  std::vector<ShardState> states_;
  TempDir run_;
  TempDir other_run_;
  std::string whole_;
};

TEST_F(CheckpointChainTest, Read_PutsTheNewestOfEachRowTogether) {
  const auto chain = CheckpointChain::Open(Checkpoint(3));
  ASSERT_TRUE(chain.ok()) << chain.status().ToString();
  EXPECT_EQ(chain->bases(), 2u);
  EXPECT_TRUE(chain->Check().ok());
  for (ShardId shard = 0; shard < kShards; ++shard) {
    ASSERT_GT(states_[shard].tables[0].keys.size(), 3u);
    const auto state = chain->Read(shard);
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    EXPECT_EQ(*state, states_[shard]);
  }
  EXPECT_EQ(chain->Read(kShards).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(CheckpointChainTest, EveryReader_SeesTheSameAsInAWholeCheckpoint) {
  const auto digests = [](const std::string& checkpoint) {
    std::vector<std::string> texts;
    const auto all = DigestCheckpoint(checkpoint);
    EXPECT_TRUE(all.ok()) << all.status().ToString();
    for (const CheckpointDigest& digest : *all) {
      texts.push_back(digest.variable + digest.slot + digest.digest + std::to_string(digest.rows));
    }
    return texts;
  };
  EXPECT_EQ(digests(Checkpoint(3)), digests(whole_));
  EXPECT_NE(digests(Checkpoint(2)), digests(whole_));
  auto reader = CheckpointReader::Open(Checkpoint(3));
  auto expected = CheckpointReader::Open(whole_);
  ASSERT_TRUE(reader.ok() && expected.ok());
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; key < 100; ++key) keys.push_back(key);
  EXPECT_EQ(*reader->Rows("table", keys), *expected->Rows("table", keys));
  EXPECT_EQ(*reader->Dense("dense"), *expected->Dense("dense"));
}

TEST_F(CheckpointChainTest, NewestGoodCheckpoint_WhenABaseIsDamaged_PassesOverAllThatBuildOnIt) {
  ASSERT_TRUE(RemoveFile(CheckpointShard(2)).ok());
  EXPECT_EQ(OpenCheckpoint(Checkpoint(3), {}).status().code(), StatusCode::kDataLoss);
  const auto good = NewestGoodCheckpoint(run_.path(), {});
  ASSERT_TRUE(good.ok()) << good.status().ToString();
  EXPECT_EQ(good->id, (CheckpointId{1, 1}));
  ASSERT_EQ(good->warnings.size(), 2u);
  EXPECT_NE(good->warnings[0].find("1-2/shard-1: missing"), std::string::npos) << good->warnings[0];
}

TEST_F(CheckpointChainTest, Read_WhenATableWasDeclaredSinceTheBase_HasItsRowsToo) {
  for (ShardState& state : states_) {
    state.variables = 3;
    state.tables.push_back({2, {5}, std::vector<float>{0.5F}, {}});
  }
  Write({1, 4}, {0}, "1-3");
  const auto chain = CheckpointChain::Open(Checkpoint(4));
  ASSERT_TRUE(chain.ok()) << chain.status().ToString();
  for (ShardId shard = 0; shard < kShards; ++shard) {
    const auto state = chain->Read(shard);
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    EXPECT_EQ(*state, states_[shard]);
  }
  // The other way round, a table would have been forgotten.
  for (ShardState& state : states_) {
    state.variables = 2;
    state.tables.pop_back();
  }
  Write({1, 5}, {0}, "1-4");
  EXPECT_EQ(CheckpointChain::Open(Checkpoint(5))->Read(0).status().code(), StatusCode::kDataLoss);
}

TEST_F(CheckpointChainTest, Open_WhenABaseIsGone_NamesIt) {
  ASSERT_TRUE(RemoveCheckpoint(run_.path(), {1, 1}).ok());
  const Status status = CheckpointChain::Open(Checkpoint(3)).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("1-1"), std::string::npos) << status.ToString();
  EXPECT_EQ(CheckpointChain::Open(Checkpoint(1)).status().code(), StatusCode::kNotFound);
}

TEST_F(CheckpointChainTest, Open_WhenTheBaseIsNotAnOlderCheckpointOfTheRun_IsDataLoss) {
  for (const char* base : {"1-4", "1-5", "2-1", "../1-1", "x"}) {
    ASSERT_TRUE(RemoveCheckpoint(run_.path(), {1, 4}).ok());
    Write({1, 4}, {0}, base);
    EXPECT_EQ(CheckpointChain::Open(Checkpoint(4)).status().code(), StatusCode::kDataLoss) << base;
  }
  WriteCheckpointOf(run_.path(), {1, 5}, variables_, states_, "", "run-b");
  Write({1, 6}, {0}, "1-5");
  EXPECT_EQ(CheckpointChain::Open(Checkpoint(6)).status().code(), StatusCode::kDataLoss);
}

TEST_F(CheckpointChainTest, Read_WhenACheckpointShardBuildsOnNothingOrOnAnotherTerm_SaysSo) {
  states_[1].term = {1, 9};
  Write({1, 4}, {0}, "1-3");
  const auto other_term = CheckpointChain::Open(Checkpoint(4));
  ASSERT_TRUE(other_term.ok());
  EXPECT_TRUE(other_term->Read(0).ok());
  EXPECT_NE(other_term->Read(1).status().message().find("another shard term"), std::string::npos);
  EXPECT_EQ(other_term->Check().code(), StatusCode::kDataLoss);
  std::vector<ShardState> checkpoint_shards = states_;
  checkpoint_shards[0].incremental = true;
  const auto alone =
      CheckpointChain::Open(WriteCheckpointOf(run_.path(), {1, 5}, variables_, checkpoint_shards));
  ASSERT_TRUE(alone.ok());
  EXPECT_NE(alone->Read(0).status().message().find("without a base"), std::string::npos);
}

/// Adam has two slots of elements, and the number of steps of each row or partition.
std::vector<VariableSpec> WithAdam(std::uint32_t partitions) {
  std::vector<VariableSpec> variables = checkpoint_test::Variables(1, partitions);
  for (VariableSpec& spec : variables) {
    Adam* adam = spec.mutable_optimizer()->mutable_adam();
    adam->set_learning_rate(0.1);
    adam->set_beta_1(0.9);
    adam->set_beta_2(0.999);
    adam->set_epsilon(1e-7);
  }
  return variables;
}

ShardState StateWithAdam(const std::vector<VariableSpec>& variables, float steps) {
  const auto catalog = *Catalog::Create(variables, 1, checkpoint_test::kBatches);
  ShardState state = checkpoint_test::State(*catalog, 0);
  for (DenseState& dense : state.dense) {
    dense.slots = {dense.values, dense.values, std::vector<float>{steps}};
  }
  TableState& table = state.tables[0];
  std::vector<float> steps_of;
  for (const std::uint64_t key : table.keys) steps_of.push_back(static_cast<float>(key) + steps);
  table.slots = {table.values, table.values, steps_of};
  return state;
}

TEST(CheckpointChainOfNumbers, Read_PutsTheNumberOfEachRowTogetherToo) {
  const TempDir run;
  const std::vector<VariableSpec> variables = WithAdam(2);
  WriteCheckpointOf(run.path(), {1, 1}, variables, {StateWithAdam(variables, 1)});
  ShardState newer = StateWithAdam(variables, 2);
  newer.incremental = true;
  TableState& table = newer.tables[0];
  ASSERT_EQ(table.keys[1], 91U);
  table.keys.resize(2);
  for (ValueArray* array : {&table.values, &table.slots[0], &table.slots[1]}) {
    array->of<float>().resize(6);
  }
  table.slots[2].of<float>().resize(2);
  const std::string top = WriteCheckpointOf(run.path(), {1, 2}, variables, {newer}, "1-1");

  const auto chain = CheckpointChain::Open(top);
  ASSERT_TRUE(chain.ok()) << chain.status().ToString();
  const auto state = chain->Read(0);
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->dense[0].slots[2], (std::vector<float>{2}));
  const TableState& merged = state->tables[0];
  ASSERT_EQ(merged.keys.size(), 15U);
  ASSERT_EQ(merged.slots[2].size(), 15U);
  for (std::size_t i = 0; i < merged.keys.size(); ++i) {
    const float steps = merged.keys[i] >= 91 ? 2 : 1;
    EXPECT_EQ(merged.slots[2].of<float>()[i], static_cast<float>(merged.keys[i]) + steps);
  }
  // A table whose rows have another number of numbers is not of this run.
  newer.tables[0].slots[2].of<float>().resize(6);
  WriteCheckpointOf(run.path(), {1, 3}, variables, {newer}, "1-1");
  EXPECT_EQ(CheckpointChain::Open(CheckpointDirectory(run.path(), {1, 3}))->Read(0).status().code(),
            StatusCode::kDataLoss);
}

// A partition has one number, however many partitions there are: the digest must not see it.
TEST(CheckpointChainOfNumbers, Digest_IsTheSameForEachNumberOfPartitions) {
  std::vector<std::vector<CheckpointDigest>> digests;
  for (const std::uint32_t partitions : {1U, 2U, 3U}) {
    const TempDir run;
    const std::vector<VariableSpec> variables = WithAdam(partitions);
    const std::string directory =
        WriteCheckpointOf(run.path(), {1, 1}, variables, {StateWithAdam(variables, 1)});
    const auto digest = DigestCheckpoint(directory);
    ASSERT_TRUE(digest.ok()) << digest.status().ToString();
    digests.push_back(*digest);
  }
  ASSERT_EQ(digests[0].size(), 8U);
  EXPECT_EQ(digests[0][3].slot, "step");
  EXPECT_EQ(digests[0][3].rows, 6U);
  for (const auto& others : digests) {
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(others[i].digest, digests[0][i].digest) << others[i].variable << others[i].slot;
    }
  }
}

}  // namespace
}  // namespace pstrain
