#include "runtime/checkpoint/checkpoint_shard.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "base/os/files.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::kBatches;
using checkpoint_test::State;
using checkpoint_test::Variables;

class CheckpointShardTest : public testing::Test {
 protected:
  void SetUp() override {
    catalog_ = *Catalog::Create(Variables(2), 2, kBatches);
    state_ = State(*catalog_, 1);
  }
  TempDir dir_;
  std::shared_ptr<const Catalog> catalog_;
  ShardState state_;
};

TEST_F(CheckpointShardTest, ReadCheckpointShard_BringsBackWhatWasWritten_WithRowsInOrder) {
  const auto checkpoint_shard = WriteCheckpointShard(dir_.path(), state_);
  ASSERT_TRUE(checkpoint_shard.ok()) << checkpoint_shard.status().ToString();
  EXPECT_EQ(checkpoint_shard->file(), "shard-1");
  const auto read = ReadCheckpointShard(dir_.path(), *checkpoint_shard);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_GT(state_.tables[0].keys.size(), 1u);
  TableState& table = state_.tables[0];
  EXPECT_TRUE(std::ranges::is_sorted(read->tables[0].keys));
  EXPECT_EQ(read->tables[0].values.of<float>()[0], static_cast<float>(10 * table.keys.back()));
  std::ranges::reverse(table.keys);
  EXPECT_EQ(read->tables[0].keys, table.keys);
  EXPECT_EQ(read->dense, state_.dense);
  EXPECT_EQ(read->applied, state_.applied);
  EXPECT_EQ(read->examples, state_.examples);
  EXPECT_EQ(read->skipped, state_.skipped);
  EXPECT_EQ(read->term, state_.term);
  EXPECT_EQ(ListDirectory(dir_.path())->size(), 1u) << "a temporary file is left";
}

TEST_F(CheckpointShardTest, ReadCheckpointShard_SaysWhatDiffers) {
  const CheckpointShard checkpoint_shard = *WriteCheckpointShard(dir_.path(), state_);
  const std::string path = dir_.File("shard-1");
  const std::string good = *ReadFile(path);
  const auto message = [&] {
    const Status status = ReadCheckpointShard(dir_.path(), checkpoint_shard).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("shard-1"), std::string::npos);
    EXPECT_EQ(CheckCheckpointShard(dir_.path(), checkpoint_shard).code(), StatusCode::kDataLoss);
    return status.message();
  };
  ASSERT_TRUE(WriteFileSynced(path, good.substr(0, good.size() - 1)).ok());
  EXPECT_NE(message().find("truncated"), std::string::npos);
  ASSERT_TRUE(WriteFileSynced(path, good + "x").ok());
  EXPECT_NE(message().find("too long"), std::string::npos);
  std::string bad = good;
  bad[good.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileSynced(path, bad).ok());
  EXPECT_NE(message().find("corrupt"), std::string::npos);
  ASSERT_TRUE(RemoveFile(path).ok());
  EXPECT_NE(message().find("missing"), std::string::npos);
}

TEST_F(CheckpointShardTest, ReadCheckpointShard_WhenTheCheckpointShardIsOfAnotherTerm_SaysSo) {
  CheckpointShard checkpoint_shard = *WriteCheckpointShard(dir_.path(), state_);
  checkpoint_shard.set_term_counter(99);
  const Status status = ReadCheckpointShard(dir_.path(), checkpoint_shard).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("term"), std::string::npos);
}

TEST_F(CheckpointShardTest, WriteCheckpointShard_WhenTheDirectoryIsMissing_NamesThePath) {
  const Status status = WriteCheckpointShard(dir_.File("none"), state_).status();
  EXPECT_NE(status.message().find(dir_.File("none")), std::string::npos);
}

TEST_F(CheckpointShardTest, WriteCheckpointShard_WhenTheFileMayNotGrow_FailsAndLeavesNothing) {
  state_.dense.emplace_back().values = ValueArray(DType::kFloat32, 1 << 16);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = WriteCheckpointShard(dir_.path(), state_).status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find(dir_.path()), std::string::npos) << status.ToString();
  EXPECT_TRUE(ListDirectory(dir_.path())->empty());
}

}  // namespace
}  // namespace pstrain
