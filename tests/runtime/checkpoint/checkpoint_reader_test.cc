#include "runtime/checkpoint/checkpoint_reader.h"

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "runtime/checkpoint/digest.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::WriteCheckpoint;

TEST(CheckpointReader, Dense_IsAssembledFromAllPartitions) {
  const TempDir run;
  auto reader = CheckpointReader::Open(WriteCheckpoint(run.path(), {1, 1}, 3, 3));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  const auto values = reader->Dense("dense");
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  ASSERT_EQ(values->size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ((*values)[i], static_cast<float>(i));
  EXPECT_EQ(reader->Dense("table").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(reader->Dense("none").status().code(), StatusCode::kNotFound);
}

TEST(CheckpointReader, Rows_WhenAbsent_HaveTheirInitialValues) {
  const TempDir run;
  auto reader = CheckpointReader::Open(WriteCheckpoint(run.path(), {1, 1}, 3));
  ASSERT_TRUE(reader.ok());
  const std::vector<std::uint64_t> keys = {14, 1, 98};
  const auto rows = reader->Rows("table", keys);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ((*rows)[0], 140.0f);
  EXPECT_EQ((*rows)[8], 982.0f);
  std::vector<float> initial(3);
  reader->catalog().variables()[1].initial.Fill(3, initial);
  EXPECT_EQ(std::vector<float>(rows->begin() + 3, rows->begin() + 6), initial);
  const std::vector<std::uint64_t> beyond = {100};
  EXPECT_EQ(reader->Rows("table", beyond).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(*reader->HeldRows("table"), 15u);  // 0, 7, ... 98, over all shards
  EXPECT_EQ(reader->HeldRows("dense").status().code(), StatusCode::kNotFound);
}

TEST(CheckpointReader, Rows_WhenACheckpointShardIsMissing_SaysSo) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 1);
  auto reader = CheckpointReader::Open(checkpoint);
  ASSERT_TRUE(RemoveFile(JoinPath(checkpoint, "shard-0")).ok());
  const std::vector<std::uint64_t> keys = {14};
  EXPECT_EQ(reader->Rows("table", keys).status().code(), StatusCode::kDataLoss);
}

std::vector<std::string> Digests(const std::string& checkpoint) {
  std::vector<std::string> texts;
  const auto digests = DigestCheckpoint(checkpoint);
  EXPECT_TRUE(digests.ok()) << digests.status().ToString();
  for (const CheckpointDigest& digest : *digests) {
    texts.push_back(digest.variable + "/" + digest.slot + " " + digest.digest + " " +
                    std::to_string(digest.rows));
  }
  return texts;
}

TEST(DigestCheckpoint, DoesNotDependOnShardsOrPartitions) {
  const TempDir run;
  const auto one = Digests(WriteCheckpoint(run.path(), {1, 1}, 1, 1));
  ASSERT_EQ(one.size(), 4u);
  EXPECT_EQ(one, Digests(WriteCheckpoint(run.path(), {1, 2}, 3, 2)));
  EXPECT_EQ(one, Digests(WriteCheckpoint(run.path(), {1, 3}, 8, 6)));
}

TEST(DigestCheckpoint, SeesEveryChange) {
  const TempDir run;
  const auto one = Digests(WriteCheckpoint(run.path(), {1, 1}, 2));
  const auto other = Digests(WriteCheckpoint(run.path(), {1, 2}, 2, 2, 0.5f));
  EXPECT_NE(one[0], other[0]);
  EXPECT_EQ(one[1], other[1]) << "the slot is the same";
  EXPECT_EQ(one[2], other[2]);
}

}  // namespace
}  // namespace pstrain
