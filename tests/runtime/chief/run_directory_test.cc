#include "runtime/chief/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "proto/contract/run_files.h"
#include "proto/job/fixed_fields.h"
#include "runtime/model/training/training_jobs.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

class RunResultTest : public testing::Test {
 protected:
  static JobSettings MakeJob(const std::string& directory) {
    return {.spec = {}, .checkpoint_directory = directory};
  }
  static Result<RunDirectory> Open(const JobSettings& job) {
    return RunDirectory::Open(job, "run");
  }

  void WriteResult(const std::string& applied_min, int expected = 240000) {
    const std::string examples = std::to_string(expected);
    const std::string text = R"({"examples_expected":)" + examples + R"(,"examples_committed":)" +
                             examples + R"(,"applied_min":)" + applied_min + R"(,"applied_max":)" +
                             examples + "}\n";
    ASSERT_TRUE(WriteFileAtomically(file_, text).ok());
  }
  /// No result proves that the run is finished, and none is left.
  void ExpectGoesOn() {
    const Result<std::optional<FinalCounts>> finished = directory_->Finished(240000, std::nullopt);
    ASSERT_TRUE(finished.ok()) << finished.status().ToString();
    EXPECT_FALSE(finished->has_value());
    EXPECT_FALSE(FileExists(file_));
  }

  TempDir dir_;
  const JobSettings job_ = MakeJob(dir_.path());
  const Result<RunDirectory> directory_ = Open(job_);
  const std::string file_ = JoinPath(dir_.File("run"), kRunResultFile);
};

TEST_F(RunResultTest, WhenEveryShardHasAppliedAll_ProvesTheRun) {
  ExpectGoesOn();
  WriteResult("240000");
  const Result<std::optional<FinalCounts>> finished = directory_->Finished(240000, std::nullopt);
  ASSERT_TRUE(finished.ok()) << finished.status().ToString();
  ASSERT_TRUE(finished->has_value());
  EXPECT_EQ((*finished)->applied_min, 240000);
  EXPECT_TRUE(FileExists(file_));
}

TEST_F(RunResultTest, WhenNobodyKnowsHowManyExamplesThereAre_CountsThatAgreeProveTheRun) {
  WriteResult("8000", 8000);
  const Result<std::optional<FinalCounts>> finished =
      directory_->Finished(std::nullopt, std::nullopt);
  ASSERT_TRUE(finished.ok()) << finished.status().ToString();
  EXPECT_TRUE(finished->has_value());
  WriteResult("7999", 8000);
  EXPECT_FALSE(directory_->Finished(std::nullopt, std::nullopt)->has_value());
}

TEST_F(RunResultTest, WhenAShardHasAppliedLess_TheRunGoesOn) {
  WriteResult("71576");
  ExpectGoesOn();
  WriteResult("null");
  ExpectGoesOn();
}

TEST_F(RunResultTest, WhenTheEpochsWereRaisedSince_TheRunGoesOn) {
  WriteResult("8000", 8000);
  ExpectGoesOn();
}

TEST_F(RunResultTest, WhenTheEvaluationWasChangedSince_TheRunIsEvaluatedAgain) {
  PSTrainingJob job;
  Evaluation& evaluation = *job.mutable_spec()->mutable_training()->mutable_evaluation();
  evaluation.mutable_input()->mutable_csv()->add_files("day-1.csv");
  const auto finished_with = [this, &job](std::uint32_t digest) {
    EXPECT_TRUE(WriteFileAtomically(
                    file_, R"({"examples_expected":8,"examples_committed":8,"applied_min":8,)"
                           R"("applied_max":8,"evaluation_digest":)" +
                               std::to_string(digest) + "}\n")
                    .ok());
    return directory_->Finished(8, ChiefJobOf(job).evaluation_digest)->has_value();
  };
  const std::uint32_t first = EvaluationDigest(job.spec().training());
  EXPECT_TRUE(finished_with(first));
  evaluation.set_deadline_seconds(7);
  EXPECT_TRUE(finished_with(first));
  evaluation.mutable_input()->mutable_csv()->set_files(0, "day-2.csv");
  EXPECT_FALSE(finished_with(first));
  EXPECT_FALSE(FileExists(file_));
  // Without an evaluation nothing takes the place of the scores.
  job.mutable_spec()->mutable_training()->clear_evaluation();
  EXPECT_TRUE(finished_with(first));
}

TEST_F(RunResultTest, WhenDamaged_TheRunGoesOn) {
  ASSERT_TRUE(WriteFileAtomically(file_, R"({"examples_expected":240)").ok());
  ExpectGoesOn();
}

TEST_F(RunResultTest, WhenItCannotBeRead_IsLeftAndSaysWhy) {
  WriteResult("240000");
  const auto finished_when = [this](int error) {
    const ScopedFileFaults faults([error](std::string_view, const std::string& path) {
      return path.ends_with(kRunResultFile) ? error : 0;
    });
    return directory_->Finished(240000, std::nullopt).status();
  };
  EXPECT_EQ(finished_when(EIO).code(), StatusCode::kUnavailable);
  EXPECT_EQ(finished_when(EACCES).code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(finished_when(EIO).message(), HasSubstr(kRunResultFile));
  EXPECT_TRUE(FileExists(file_));
  EXPECT_TRUE(directory_->Finished(240000, std::nullopt)->has_value());
}

constexpr std::uint32_t kShards = 2;

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectoryTest() {
    job_.checkpoint_directory = dir_.path();
    fresh_.set_run_id("run");
    fresh_.set_shards(kShards);
    fresh_.set_batches_per_epoch(checkpoint_test::kBatches);
    for (const VariableSpec& variable : checkpoint_test::Variables(kShards)) {
      *fresh_.add_variables() = variable;
    }
  }

  TempDir dir_;
  JobSettings job_;
  RunDescription fresh_;
};

TEST_F(RunDirectoryTest, ASecondChief_GoesOnWithWhereTheFirstHasPlacedSlices) {
  const Result<RunDirectory> directory = RunDirectory::Open(job_, "run");
  ASSERT_TRUE(directory.ok()) << directory.status().ToString();
  ASSERT_TRUE(directory->Description(fresh_).ok());
  RunDescription other = fresh_;
  for (VariableSpec& variable : *other.mutable_variables()) {
    for (Partition& partition : *variable.mutable_partitions()) partition.set_shard(0);
  }
  const Result<RunDescription> description = directory->Description(other);
  ASSERT_TRUE(description.ok()) << description.status().ToString();
  EXPECT_EQ(description->SerializeAsString(), fresh_.SerializeAsString());
}

// Whoever waits for it does so for a limited time. A link to itself stands for what the disk does
// not show now.
TEST_F(RunDirectoryTest, WhileItCannotBeSeenWhetherAnAnnouncementIsAwaited_ItIs) {
  const Result<RunDirectory> directory = RunDirectory::Open(job_, "run");
  ASSERT_TRUE(directory.ok()) << directory.status().ToString();
  EXPECT_FALSE(directory->AnnouncementAwaited());
  const std::string file = JoinPath(directory->path(), kRunAnnounceFile);
  std::filesystem::create_symlink(file, file);
  EXPECT_TRUE(directory->AnnouncementAwaited());
}

// The former chief was paused, or its node was cut off, and goes on.
TEST_F(RunDirectoryTest, WhenAnotherChiefHasTakenTheRun_TheFormerOneChangesNoneOfItsFiles) {
  const Result<RunDirectory> former = RunDirectory::Open(job_, "run");
  ASSERT_TRUE(former.ok()) << former.status().ToString();
  ASSERT_TRUE(former->WriteStopped(R"({"eval_loss": 0.25})").ok());
  const Result<RunDirectory> chief = RunDirectory::Open(job_, "run");
  ASSERT_TRUE(chief.ok()) << chief.status().ToString();
  ASSERT_TRUE(chief->WriteStopped(R"({"eval_loss": 0.5})").ok());
  EXPECT_EQ(former->WriteStopped(R"({"eval_loss": 0.75})").code(), StatusCode::kAborted);
  EXPECT_EQ(former->ForgetStopped().code(), StatusCode::kAborted);
  EXPECT_EQ(former->WriteRestored(0.75).code(), StatusCode::kAborted);
  EXPECT_EQ(chief->StoppedEvalLoss(), 0.5);
  EXPECT_FALSE(chief->RestoredEvalLoss().has_value());
  EXPECT_EQ(former->WriteResult("{}").code(), StatusCode::kAborted);
  EXPECT_FALSE(FileExists(JoinPath(chief->path(), kRunResultFile)));
  EXPECT_EQ(former->Description(fresh_).status().code(), StatusCode::kAborted);
  EXPECT_FALSE(FileExists(chief->DescriptionFile()));
  ASSERT_TRUE(chief->WriteResult("{}").ok());
  EXPECT_EQ(former->Finished(1, std::nullopt).status().code(), StatusCode::kAborted);
  EXPECT_EQ(ReadFile(JoinPath(chief->path(), kRunResultFile)).value(), "{}\n");
  const Result<std::vector<std::string>> names = ListDirectory(chief->path());
  ASSERT_TRUE(names.ok()) << names.status().ToString();
  for (const std::string& name : *names) {
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
  }
}

// The chief looks up records by batch, and hands the rest to every ps.
TEST_F(RunDirectoryTest, WhatNoChiefHasWritten_IsDamaged) {
  RunDescription batches = fresh_;
  batches.set_batches_per_epoch(checkpoint_test::kBatches + 1);
  EXPECT_EQ(CompareDescriptions(batches, fresh_).code(), StatusCode::kDataLoss);
  RunDescription shard = fresh_;
  for (VariableSpec& variable : *shard.mutable_variables()) {
    if (variable.partitions_size() > 0) variable.mutable_partitions(0)->set_shard(kShards);
  }
  EXPECT_EQ(CompareDescriptions(shard, fresh_).code(), StatusCode::kDataLoss);

  const Result<RunDirectory> directory = RunDirectory::Open(job_, "run");
  ASSERT_TRUE(directory.ok()) << directory.status().ToString();
  ASSERT_TRUE(WriteFileAtomically(directory->DescriptionFile(), shard.SerializeAsString()).ok());
  const Status refused = directory->Description(fresh_).status();
  EXPECT_EQ(refused.code(), StatusCode::kDataLoss);
  EXPECT_THAT(refused.message(), HasSubstr(directory->DescriptionFile()));
  EXPECT_THAT(refused.message(), HasSubstr("restore it or start a new run"));
}

}  // namespace
}  // namespace pstrain
