#include "runtime/checkpoint/checkpoints.h"

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "runtime/checkpoint/checked_message.h"
#include "runtime/checkpoint/manifest.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::Variables;
using checkpoint_test::WriteCheckpoint;

void Corrupt(const std::string& path) {
  std::string bytes = *ReadFile(path);
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileSynced(path, bytes).ok());
}

TEST(Checkpoints, Names_RoundTripAndRefuseOthers) {
  EXPECT_EQ(CheckpointName({3, 17}), "3-17");
  EXPECT_EQ(ParseCheckpointName("3-17"), (CheckpointId{3, 17}));
  for (const char* bad : {"", "3", "3-", "-17", "03-17", "3-17-1", "3-x", "+3-1"}) {
    EXPECT_FALSE(ParseCheckpointName(bad)) << bad;
  }
}

TEST(Checkpoints, List_IsOrderedByEpochThenNumberAndLeavesOutTheUnfinished) {
  const TempDir run;
  EXPECT_TRUE(ListCheckpoints(run.path())->empty());
  for (const CheckpointId id : {CheckpointId{2, 1}, CheckpointId{1, 10}, CheckpointId{1, 9}})
    WriteCheckpoint(run.path(), id, 1);
  ASSERT_TRUE(CreateCheckpointDirectory(run.path(), {3, 1}).ok());
  EXPECT_EQ(*ListCheckpoints(run.path()), (std::vector<CheckpointId>{{1, 9}, {1, 10}, {2, 1}}));
  EXPECT_EQ(ListCheckpointFolders(run.path())->size(), 4u);
  EXPECT_EQ(CreateCheckpointDirectory(run.path(), {3, 1}).status().code(),
            StatusCode::kAlreadyExists);
}

TEST(Checkpoints, OpenCheckpoint_WhenAsExpected_ReturnsTheManifest) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 3);
  const auto manifest =
      OpenCheckpoint(checkpoint, {"run-a", Variables(3), 3, checkpoint_test::kBatches, {}});
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->checkpoint_shards_size(), 3);
  EXPECT_EQ(manifest->number(), 1u);
}

TEST(Checkpoints, OpenCheckpoint_WhenOfAnotherJob_NamesTheField) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 1);
  JobSpec job;
  job.mutable_training()->set_batch_size(16);
  CheckpointManifest manifest = *ReadManifest(checkpoint);
  CheckpointExpectation expectation;
  expectation.job = job;
  // One that does not say of which job it is could be of any.
  manifest.clear_job();
  ASSERT_TRUE(WriteManifest(checkpoint, manifest, [] { return OkStatus(); }).ok());
  EXPECT_EQ(OpenCheckpoint(checkpoint, expectation).status().code(),
            StatusCode::kFailedPrecondition);
  *manifest.mutable_job() = job;
  ASSERT_TRUE(WriteManifest(checkpoint, manifest, [] { return OkStatus(); }).ok());
  EXPECT_TRUE(OpenCheckpoint(checkpoint, expectation).ok());
  expectation.job->mutable_training()->set_epochs(9);
  EXPECT_TRUE(OpenCheckpoint(checkpoint, expectation).ok());
  expectation.job->mutable_training()->set_batch_size(17);
  const Status status = OpenCheckpoint(checkpoint, expectation).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("spec.training.batchSize was 16"), std::string::npos);
}

TEST(Checkpoints, OpenCheckpoint_WhenForeign_NamesWhatDiffers) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 3);
  const auto refused = [&](const CheckpointExpectation& expectation, const char* word) {
    const Status status = OpenCheckpoint(checkpoint, expectation).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_NE(status.message().find(word), std::string::npos) << status.ToString();
  };
  refused({"run-b", {}, {}, {}, {}}, "run-a");
  refused({"", {}, 4, {}, {}}, "3 shards");
  refused({"", {}, {}, 9, {}}, "8 batches");
  auto variables = Variables(3);
  variables[1].set_shape(0, 99);
  refused({"", variables, {}, {}, {}}, "table");
  variables = Variables(3);
  variables.pop_back();
  refused({"", variables, {}, {}, {}}, "table");
  variables = Variables(3);
  variables.push_back(variables[0]);
  variables.back().set_name("other");
  refused({"", variables, {}, {}, {}}, "other");
}

// Of a run that declares variables while it trains.
TEST(Checkpoints, OpenCheckpoint_WhenAVariableWasDeclaredSince_IsGood) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 3);
  CheckpointManifest manifest = *ReadManifest(checkpoint);
  manifest.set_generation(2);
  ASSERT_TRUE(WriteManifest(checkpoint, manifest, [] { return OkStatus(); }).ok());
  CheckpointExpectation expectation;
  expectation.variables = Variables(3);
  VariableSpec late = expectation.variables->front();
  late.set_name("late");
  late.set_generation(3);
  expectation.variables->push_back(late);
  EXPECT_TRUE(OpenCheckpoint(checkpoint, expectation).ok());
  // It says that it holds that generation.
  expectation.variables->back().set_generation(2);
  EXPECT_EQ(OpenCheckpoint(checkpoint, expectation).status().code(),
            StatusCode::kFailedPrecondition);
  manifest.mutable_variables(1)->set_generation(3);
  ASSERT_TRUE(WriteManifest(checkpoint, manifest, [] { return OkStatus(); }).ok());
  EXPECT_EQ(ReadManifest(checkpoint).status().code(), StatusCode::kDataLoss);
}

TEST(Checkpoints, OpenCheckpoint_WhenOfAFormerFormat_IsRefusedAndNotPassedOver) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 1);
  CheckpointManifest manifest = *ReadManifest(checkpoint);
  manifest.set_format_version(kCheckpointFormatVersion - 1);
  const std::string bytes = CheckedMessage("PSTMANIF", manifest.SerializeAsString());
  ASSERT_TRUE(WriteFileSynced(JoinPath(checkpoint, "manifest"), bytes).ok());
  const Status status = NewestGoodCheckpoint(run.path(), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("format version 3, this program reads 4"), std::string::npos)
      << status.ToString();
}

TEST(Checkpoints, NewestGoodCheckpoint_PassesOverBadOnesWithAWarning) {
  const TempDir run;
  EXPECT_EQ(NewestGoodCheckpoint(run.path(), {}).status().code(), StatusCode::kNotFound);
  WriteCheckpoint(run.path(), {1, 1}, 2);
  const std::string second = WriteCheckpoint(run.path(), {1, 2}, 2);
  const std::string third = WriteCheckpoint(run.path(), {2, 3}, 2);
  Corrupt(JoinPath(third, "manifest"));
  ASSERT_TRUE(RemoveFile(JoinPath(second, "shard-1")).ok());
  const auto good = NewestGoodCheckpoint(run.path(), {});
  ASSERT_TRUE(good.ok()) << good.status().ToString();
  EXPECT_EQ(good->id, (CheckpointId{1, 1}));
  ASSERT_EQ(good->warnings.size(), 2u);
  EXPECT_NE(good->warnings[0].find("2-3"), std::string::npos);
  EXPECT_NE(good->warnings[1].find("missing"), std::string::npos);

  Corrupt(JoinPath(CheckpointDirectory(run.path(), {1, 1}), "shard-0"));
  EXPECT_EQ(NewestGoodCheckpoint(run.path(), {}).status().code(), StatusCode::kDataLoss);
}

TEST(Checkpoints, NewestGoodCheckpoint_WhenOfAnotherRun_Refuses) {
  const TempDir run;
  WriteCheckpoint(run.path(), {1, 1}, 2);
  EXPECT_EQ(NewestGoodCheckpoint(run.path(), {"run-b", {}, {}, {}, {}}).status().code(),
            StatusCode::kFailedPrecondition);
}

TEST(Manifest, WriteManifest_WhenTheLastCheckFails_LeavesNoCheckpoint) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 1);
  const CheckpointManifest manifest = *ReadManifest(checkpoint);
  ASSERT_TRUE(RemoveFile(JoinPath(checkpoint, "manifest")).ok());
  const Status status =
      WriteManifest(checkpoint, manifest, [] { return AbortedError("higher epoch"); });
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(*ListDirectory(checkpoint), (std::vector<std::string>{"shard-0"}));
  EXPECT_TRUE(ListCheckpoints(run.path())->empty());
}

TEST(Manifest, ReadManifest_WhenTruncatedAnywhere_IsDataLoss) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 1);
  const std::string path = JoinPath(checkpoint, "manifest");
  const std::string good = *ReadFile(path);
  for (std::size_t size = 0; size < good.size(); size += 7) {
    ASSERT_TRUE(WriteFileSynced(path, good.substr(0, size)).ok());
    EXPECT_EQ(ReadManifest(checkpoint).status().code(), StatusCode::kDataLoss) << size;
  }
}

TEST(Manifest, WriteManifest_WhenACheckpointShardIsMissing_Refuses) {
  const TempDir run;
  const std::string checkpoint = WriteCheckpoint(run.path(), {1, 1}, 2);
  CheckpointManifest manifest = *ReadManifest(checkpoint);
  manifest.mutable_checkpoint_shards()->RemoveLast();
  EXPECT_EQ(WriteManifest(checkpoint, manifest, nullptr).code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace pstrain
