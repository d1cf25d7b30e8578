// Checkpoint directories and checkpoints that cannot be used, as `pstrain run` and `inspect` meet
// them.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kDirectory = "spec.training.checkpoint.directory";
// A page of a tmpfs is 4 KiB, and so is every small file in it: run and index take two pages, a
// checkpoint of four shards five. So two checkpoints fit into 60 KiB and the third does not.
constexpr const char* kRoomForTwoCheckpoints = "size=60k";

class BadCheckpointDirectory : public SmallJob {};

TEST_F(BadCheckpointDirectory, WhenAFileIsInTheWay_IsNamedBeforeAnythingIsStarted) {
  Write("file", "mine");
  const ProgramEnd end = Run({"--set", std::string(kDirectory) + "=file"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err,
              HasSubstr("spec.training.checkpoint.directory: file is a file; name a folder"));
  EXPECT_EQ(*ReadFile(dir_.File("file")), "mine");
}

TEST_F(BadCheckpointDirectory, WhenItIsReadOnly_IsNamedBeforeAnythingIsStarted) {
  if (!CanMount()) GTEST_SKIP() << "no mount namespace may be made here";
  const ProgramEnd end = RunOnTmpfs("ro", {});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err,
              HasSubstr("spec.training.checkpoint.directory: full: Read-only file system; name a "
                        "folder that this user may write to"));
}

TEST_F(BadCheckpointDirectory, WhenItIsFullFromTheStart_FailsAndLeavesNothingHalf) {
  if (!CanMount()) GTEST_SKIP() << "no mount namespace may be made here";
  const ProgramEnd end = RunOnTmpfs("size=4k", {});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("RESOURCE_EXHAUSTED: spec.training.checkpoint.directory full must "
                                 "be writable and have room: write full/"));
  EXPECT_THAT(end.err, HasSubstr("No space left on device"));
  ExpectOnlyGoodCheckpoints("copy", 0);
}

// The disk stays full: the run does not fail, a stop ends it, and it can be resumed elsewhere.
TEST_F(BadCheckpointDirectory,
       WhenItGetsFullInTheMiddleOfACheckpoint_AStopWorksAndTheEarlierCheckpointsAreGood) {
  if (!CanMount()) GTEST_SKIP() << "no mount namespace may be made here";
  const ProgramEnd end = RunOnTmpfs(kRoomForTwoCheckpoints, {"--stop-at", "90"});
  EXPECT_EQ(end.code, 0) << end.err;
  const Result<std::string> log = ReadFile(dir_.File(".pstrain/small/logs/chief-0-0.log"));
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(*log, HasSubstr("a checkpoint was abandoned"));
  EXPECT_THAT(*log, HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(*log, HasSubstr("No space left on device"));
  ExpectOnlyGoodCheckpoints("copy", 2);
  // With room again the run goes on from the checkpoints that are there.
  const ProgramEnd resumed =
      Run({"--resume", "--set", std::string(kDirectory) + "=" + dir_.File("copy")});
  ExpectAllAppliedOnce(resumed);
}

TEST_F(BadCheckpointDirectory, WhenItIsFullForAWhile_TheTrainingGoesOn) {
  if (!CanMount()) GTEST_SKIP() << "no mount namespace may be made here";
  // The ballast leaves room for the files of the run alone.
  Write("ballast", std::string(100 * 1024, 'x'));
  std::vector<std::string> command = OnTmpfs("size=120k", {});
  std::string& script = command[command.size() - 2];
  script.replace(script.find("&&"), 2, "&& cp ballast full &&");
  Program program(command, dir_.path());
  const std::string log = dir_.File(".pstrain/small/logs/chief-0-0.log");
  ASSERT_TRUE(Eventually([&] {
    const Result<std::string> text = ReadFile(log);
    return text.ok() && text->find("a checkpoint was abandoned") != std::string::npos;
  })) << program.Stderr();
  const std::string inside = "/proc/" + std::to_string(program.pid()) + "/root";
  ASSERT_TRUE(RemoveFile(inside + dir_.File("full/ballast")).ok());
  const ProgramEnd end = Finish(program);
  ExpectAllAppliedOnce(end);
  ExpectOnlyGoodCheckpoints("copy", 1);
}

/// A run of several checkpoints that has ended but is not finished: it can be resumed.
class BadCheckpoint : public SmallJob {
 protected:
  void SetUp() override {
    SmallJob::SetUp();
    const ProgramEnd end = Run();
    ASSERT_EQ(end.code, 0) << end.err;
    ASSERT_GE(Checkpoints().size(), 2U);
    run_ = ParentPath(ParentPath(Checkpoints().front()));
    ASSERT_TRUE(RemoveFile(JoinPath(run_, "result.json")).ok());
  }

  static void Truncate(const std::string& file) { fs::resize_file(file, fs::file_size(file) - 1); }

  static void Flip(const std::string& file) {
    std::string bytes = *ReadFile(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    ASSERT_TRUE(WriteFileSynced(file, bytes).ok());
  }

  void ExpectInspectRefuses(const std::string& checkpoint, const std::string& message) {
    const ProgramEnd end = Start("pstrain", {"inspect", checkpoint});
    EXPECT_EQ(end.code, 1) << end.out;
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr(message));
  }

  std::string run_;
};

TEST_F(BadCheckpoint, Inspect_NamesWhatIsWrong) {
  const std::string checkpoint = Checkpoints().back();
  const std::string checkpoint_shard = checkpoint + "/shard-2";
  const std::string good_checkpoint_shard = *ReadFile(checkpoint_shard);
  const std::string manifest = checkpoint + "/manifest";
  const std::string good_manifest = *ReadFile(manifest);
  const std::string size = std::to_string(good_checkpoint_shard.size());
  const std::string less = std::to_string(good_checkpoint_shard.size() - 1);

  Truncate(checkpoint_shard);
  ExpectInspectRefuses(checkpoint, "checkpoint shard " + checkpoint_shard + ": truncated, " + less +
                                       " bytes instead of " + size);
  ASSERT_TRUE(WriteFileSynced(checkpoint_shard, good_checkpoint_shard).ok());
  Flip(checkpoint_shard);
  ExpectInspectRefuses(checkpoint,
                       "checkpoint shard " + checkpoint_shard + ": corrupt, its checksum differs");
  ASSERT_TRUE(RemoveFile(checkpoint_shard).ok());
  ExpectInspectRefuses(checkpoint, "checkpoint shard " + checkpoint_shard + ": missing");
  ASSERT_TRUE(WriteFileSynced(checkpoint_shard, good_checkpoint_shard).ok());
  Truncate(manifest);
  ExpectInspectRefuses(checkpoint, manifest + ": corrupt, its checksum differs");
  ASSERT_TRUE(WriteFileSynced(manifest, "PSTMAN").ok());
  ExpectInspectRefuses(checkpoint, manifest + ": truncated or not a manifest");
  ASSERT_TRUE(RemoveFile(manifest).ok());
  ExpectInspectRefuses(checkpoint,
                       checkpoint +
                           " has no manifest: not a checkpoint, or one that was not finished; give "
                           "the folder <run>/checkpoints/<chief term>-<number> of a checkpoint");
  ExpectInspectRefuses("data.csv", "data.csv is a file; give the folder ");
  ExpectInspectRefuses("absent", "absent does not exist; give the folder ");
  ASSERT_TRUE(WriteFileSynced(manifest, good_manifest).ok());
  EXPECT_EQ(Start("pstrain", {"inspect", checkpoint}).code, 0);
}

TEST_F(BadCheckpoint, Resume_WhenTheNewestIsDamaged_GoesOnFromTheOneBefore) {
  const std::string newest = Checkpoints().back();
  Flip(newest + "/shard-2");
  const ProgramEnd end = Run({"--resume"});
  ExpectAllAppliedOnce(end);
  const std::string log = *ReadFile(dir_.File(".pstrain/small/logs/chief-0-0.log"));
  EXPECT_THAT(log,
              HasSubstr("checkpoint " + BaseName(newest) + " is passed over: checkpoint shard "));
}

TEST_F(BadCheckpoint, Resume_WhenAllAreDamaged_IsDataLossAndLeavesThemAlone) {
  const std::vector<std::string> checkpoints = Checkpoints();
  for (const std::string& checkpoint : checkpoints) Truncate(checkpoint + "/shard-1");
  const ProgramEnd end = Run({"--resume"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err,
              HasSubstr("job failed: InvalidInput: chief-0: no checkpoint in checkpoints/"));
  for (const std::string& checkpoint : checkpoints) {
    EXPECT_THAT(end.err, HasSubstr("checkpoint " + BaseName(checkpoint) +
                                   " is passed over: checkpoint shard "));
  }
  EXPECT_THAT(end.err, HasSubstr("; put a good copy back, or start a new run"));
  EXPECT_EQ(Checkpoints(), checkpoints);
}

TEST_F(BadCheckpoint, Resume_WhenACheckpointIsOfAnotherRun_IsRefusedByItsName) {
  const ProgramEnd other =
      Run({"--state-dir", "other", "--set", std::string(kDirectory) + "=more"});
  ASSERT_EQ(other.code, 0) << other.err;
  const std::string foreign = Checkpoints("more").back();
  const std::string foreign_run = BaseName(ParentPath(ParentPath(foreign)));
  fs::copy(foreign, run_ + "/checkpoints/9-1", fs::copy_options::recursive);
  const ProgramEnd end = Run({"--resume"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err,
              HasSubstr("job failed: InvalidInput: chief-0: checkpoint checkpoints/" +
                        BaseName(run_) + "/checkpoints/9-1: it is of run " + foreign_run +
                        ", not of " + BaseName(run_) + "; move it out of this run's folder"));
}

TEST_F(BadCheckpoint, Resume_WhenTheJobHasChanged_NamesTheField) {
  const ProgramEnd end = Run({"--resume", "--set", "spec.strategy.shards=8"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(
      end.err,
      HasSubstr("job failed: InvalidInput: chief-0: spec.strategy.shards was 4 when the job "
                "started and is 8 now: the number of shards cannot change"));
  const ProgramEnd batch = Run({"--resume", "--set", "spec.training.batchSize=7"});
  EXPECT_EQ(batch.code, 1);
  EXPECT_THAT(batch.err,
              HasSubstr("job failed: InvalidInput: chief-0: spec.training.batchSize was "));
  // Not below the fields that cannot change.
  const ProgramEnd more = Run({"--resume", "--set", "spec.replicaSpecs.ps.replicas=3", "--set",
                               "spec.training.checkpoint.everySteps=7"});
  EXPECT_EQ(more.code, 0) << more.err;
}

TEST_F(BadCheckpoint, Resume_WhenTheResultProvesNothing_GoesOnAndProvesItAgain) {
  const std::string result = JoinPath(run_, "result.json");
  ASSERT_TRUE(WriteFileSynced(result, R"({"examples_expected":2000,"examples_committed":2000,)"
                                      R"("applied_min":596,"applied_max":2000})")
                  .ok());
  ExpectAllAppliedOnce(Run({"--resume"}));
  // And with a result that holds, the run is over.
  const std::string written = *ReadFile(result);
  const ProgramEnd again = Run({"--resume"});
  ExpectAllAppliedOnce(again);
  EXPECT_EQ(*ReadFile(result), written);
}

TEST_F(BadCheckpoint, Resume_WhenAFileOfTheRunIsDamaged_NamesIt) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {run_ + "/index", "index: this is not an input index; restore it or start a new run"},
      {run_ + "/run", "run is damaged; restore it or start a new run"},
      {dir_.File(".pstrain/small/run.json"),
       "run.json is damaged, it names no run_id; run without --resume"}};
  for (const auto& [file, message] : cases) {
    const std::string good = *ReadFile(file);
    Write("junk", "junk");
    ASSERT_TRUE(WriteFileSynced(file, "junk").ok());
    const ProgramEnd end = Run({"--resume"});
    EXPECT_EQ(end.code, 1) << file;
    EXPECT_THAT(end.err, HasSubstr(message));
    ASSERT_TRUE(WriteFileSynced(file, good).ok());
  }
  ExpectAllAppliedOnce(Run({"--resume"}));
}

TEST_F(BadCheckpoint, Run_WhenRefused_LeavesTheRunBeforeToBeResumed) {
  const std::string before = *ReadFile(dir_.File(".pstrain/small/run.json"));
  const std::string log = *ReadFile(dir_.File(".pstrain/small/logs/chief-0-0.log"));
  EXPECT_EQ(Run({"--volume", "data=elsewhere"}).code, 2);
  EXPECT_EQ(Run({"--set", "spec.training.batchSize=none"}).code, 2);
  EXPECT_EQ(*ReadFile(dir_.File(".pstrain/small/run.json")), before);
  EXPECT_EQ(*ReadFile(dir_.File(".pstrain/small/logs/chief-0-0.log")), log);
}

TEST_F(BadCheckpoint, StateDirectory_WhenAFileIsInTheWay_IsNamed) {
  const ProgramEnd end = Run({"--state-dir", "data.csv"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("pstrain run: --state-dir data.csv must be writable: create "));
}

}  // namespace
}  // namespace pstrain
