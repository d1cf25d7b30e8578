// How `pstrain run` keeps the chief from granting until its kills have fired.
#include "local/grant_barrier_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "base/os/files.h"
#include "local/chaos.h"
#include "local/replicas/launcher.h"

namespace pstrain::local {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class GrantBarrierFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    job_.mutable_spec()->mutable_training()->mutable_checkpoint()->set_directory(
        dir_.File("checkpoints"));
  }

  std::vector<std::string> Names() const {
    const auto names = ListDirectory(dir_.File("checkpoints/run1"));
    return names.ok() ? *names : std::vector<std::string>();
  }

  Result<GrantBarrierFiles> Open() const { return GrantBarrierFiles::Open(job_, "run1"); }

  TempDir dir_;
  PSTrainingJob job_;
};

TEST_F(GrantBarrierFilesTest, Set_KeepsOneFileForEachPercentage) {
  {
    auto files = Open();
    ASSERT_TRUE(files.ok());
    EXPECT_TRUE(files->Set({}).ok());
    EXPECT_FALSE(FileExists(dir_.File("checkpoints")));
    EXPECT_TRUE(files->Set({20, 40.5}).ok());
    EXPECT_THAT(Names(), ElementsAre("barrier-20", "barrier-40.5"));
    EXPECT_TRUE(files->Set({40.5}).ok());
    EXPECT_THAT(Names(), ElementsAre("barrier-40.5"));
    const GrantBarrierFiles moved = std::move(*files);
    EXPECT_THAT(Names(), ElementsAre("barrier-40.5"));
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(GrantBarrierFilesTest, Open_RemovesWhatAnEarlierPartHasLeft) {
  ASSERT_TRUE(CreateDirectories(dir_.File("checkpoints/run1")).ok());
  for (const char* name : {"barrier-20", "barrier-x", "index"}) {
    ASSERT_TRUE(WriteFileAtomically(dir_.File("checkpoints/run1/") + name, "").ok());
  }
  const auto files = Open();
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(Names(), ElementsAre("index"));
}

// A link to itself stands for what the disk does not show now: what is left there would hold the
// job for ever.
TEST_F(GrantBarrierFilesTest, Open_WhenTheDirectoryCannotBeSeen_SaysSo) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(CreateDirectories(dir_.File("checkpoints")).ok());
  const std::string run = dir_.File("checkpoints/run1");
  std::filesystem::create_directory_symlink(run, run);
  EXPECT_EQ(Open().status(), ErrnoError(ELOOP, "list directory " + run));
}

TEST_F(GrantBarrierFilesTest, Set_WhenTheDirectoryCannotBeMade_NamesTheField) {
  ASSERT_TRUE(WriteFileAtomically(dir_.File("checkpoints"), "a file").ok());
  auto files = Open();
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->Set({20}).message(), testing::HasSubstr("spec.training.checkpoint.directory"));
}

TEST_F(GrantBarrierFilesTest, Set_InAJobWithItsOwnProgram_DoesNothing) {
  job_.mutable_spec()->clear_training();
  auto files = Open();
  ASSERT_TRUE(files.ok());
  EXPECT_TRUE(files->Set({20}).ok());
  EXPECT_THAT(Names(), IsEmpty());
}

class AwaitedKillsTest : public testing::Test {
 protected:
  void SetUp() override {
    PSTrainingJob job;
    job.mutable_metadata()->set_name("j");
    ReplicaSpec& worker = *job.mutable_spec()->mutable_replica_specs()->mutable_worker();
    worker.set_replicas(1);
    worker.set_template_(R"({"spec":{"containers":[{"command":["a"]}]}})");
    auto workspace = Workspace::Open(dir_.path(), "j");
    ASSERT_TRUE(workspace.ok()) << workspace.status().ToString();
    workspace_.emplace(std::move(*workspace));
    auto launcher = Launcher::Create(job, *workspace_,
                                     {.program_dir = dir_.path(), .run_id = "run1", .volumes = {}});
    ASSERT_TRUE(launcher.ok()) << launcher.status().ToString();
    launcher_.emplace(std::move(*launcher));
  }

  TempDir dir_;
  std::optional<Workspace> workspace_;
  std::optional<Launcher> launcher_;
};

TEST_F(AwaitedKillsTest, WhenTheTargetNeverRuns_AreNotAwaitedForEver) {
  ReplicaSet nobody(*launcher_, *workspace_);
  ChaosKill kill;
  kill.target = {plan::Role::kWorker, 0};
  kill.percent = 20;
  ChaosKill later = kill;
  later.percent = 60.5;
  Chaos chaos({kill, later});
  const SteadyTime start = SteadyNow();
  chaos.Update(10, 100, nobody, start);
  chaos.Update(20, 100, nobody, start + seconds(1000));
  chaos.Update(25, 100, nobody, start + seconds(1059));
  EXPECT_THAT(chaos.AwaitedPercents(), ElementsAre(20, 60.5));
  chaos.Update(30, 100, nobody, start + seconds(1060));
  EXPECT_THAT(chaos.AwaitedPercents(), ElementsAre(60.5));
  EXPECT_FALSE(chaos.AllFired());
}

}  // namespace
}  // namespace pstrain::local
