#include "cli/runs/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "cli/runs/delete_run.h"
#include "local/replicas/last_run.h"
#include "local/replicas/workspace.h"
#include "runtime/checkpoint/chief_term.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::WriteCheckpoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// A state directory with one job, whose last run is r2, and a run r1 before it.
class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    WriteCheckpoint(Run("r1"), {1, 1}, 2);
    WriteCheckpoint(Run("r1"), {1, 2}, 2);
    WriteCheckpoint(Run("r2"), {3, 1}, 2);
    EXPECT_TRUE(WriteFileAtomically(JoinPath(Run("r1"), "result.json"), R"({"auc":0.5})").ok());
    EXPECT_TRUE(CreateDirectories(JoinPath(state_, "empty")).ok());
    // A folder beside the runs that is none.
    EXPECT_TRUE(CreateDirectories(Run("lost+found")).ok());
    SetLast("adult", "r2");
  }
  std::string Run(const std::string& id) const { return JoinPath(dir_.File("runs"), id); }
  void SetLast(const std::string& job, const std::string& run) const {
    EXPECT_TRUE(CreateDirectories(JoinPath(state_, job)).ok());
    EXPECT_TRUE(local::WriteLastRun(JoinPath(state_, job), job, {run, dir_.File("runs")}).ok());
  }
  std::vector<std::string> Here() const {
    const auto here = ListRunsHere(state_);
    EXPECT_TRUE(here.ok()) << here.status().ToString();
    std::vector<std::string> texts;
    for (const RunEntry& run : here->runs) {
      texts.push_back(run.job + " " + run.run_id + " " + run.state + (run.last ? " last" : ""));
    }
    return texts;
  }
  RunEntry Find(const std::string& name) const {
    const Result<RunEntry> run = FindRunEntry(state_, name);
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    return run.ok() ? *run : RunEntry();
  }
  /// The refusal of a name.
  std::string NotFound(const std::string& name) const {
    const Status none = FindRunEntry(state_, name).status();
    EXPECT_EQ(none.code(), StatusCode::kNotFound);
    return none.message();
  }

  TempDir dir_;
  const std::string state_ = dir_.File("state");
};

TEST_F(RunFolderTest, RunsAreFoundByJobByIdAndByFolder) {
  EXPECT_THAT(Here(), ElementsAre("adult r1 Finished", "adult r2 Unfinished last"));
  EXPECT_EQ(Find("adult").run_id, "r2");
  EXPECT_EQ(Find("r1").job, "adult");
  const RunEntry by_folder = Find(Run("r1") + "/");
  EXPECT_EQ(by_folder.job, "adult");
  EXPECT_EQ(by_folder.run_id, "r1");
  ASSERT_EQ(by_folder.checkpoints.size(), 2U);
  EXPECT_EQ(by_folder.checkpoints[1].id.number, 2U);
  EXPECT_GT(by_folder.checkpoints[1].bytes, 0U);
  // Without a job that was run there, folders are found all the same.
  const Result<RunEntry> stranger = FindRunEntry(dir_.File("nowhere"), Run("r2"));
  ASSERT_TRUE(stranger.ok());
  EXPECT_EQ(stranger->run_id, "r2");
  EXPECT_EQ(stranger->job, "");
}

TEST_F(RunFolderTest, WhenThereIsNoSuchRun_SaysWhereItLooked) {
  EXPECT_THAT(NotFound("r3"), HasSubstr("r3 is no job and no run id of " + state_));
  SetLast("gone", "r9");
  EXPECT_THAT(NotFound("gone"), HasSubstr("the last run of job gone, r9, is not in " +
                                          dir_.File("runs") + ": its chief had not begun it yet"));
  ASSERT_TRUE(local::WriteLastRun(JoinPath(state_, "gone"), "gone", {"r9", ""}).ok());
  EXPECT_THAT(NotFound("gone"), HasSubstr("its job has no checkpoint directory"));
  const std::string nowhere = dir_.File("nowhere");
  EXPECT_THAT(ListRunsHere(nowhere).status().message(),
              HasSubstr("nothing was run with --state-dir " + nowhere));
  EXPECT_THAT(FindRunEntry(nowhere, "adult").status().message(),
              HasSubstr("adult is no folder of a run, and nothing was run with --state-dir"));
}

TEST_F(RunFolderTest, WhenNoCheckpointWasWrittenYet_IsARunAllTheSame) {
  ASSERT_TRUE(TakeChiefTerm(Run("r3")).ok());
  EXPECT_EQ(Find("r3").state, "Unfinished");
  EXPECT_THAT(Find("r3").checkpoints, testing::IsEmpty());
}

TEST_F(RunFolderTest, WhenSomethingIsDamaged_SaysWhatAndListsTheRest) {
  const std::string shard = JoinPath(CheckpointDirectory(Run("r1"), {1, 2}), "shard-1");
  ASSERT_TRUE(WriteFileSynced(shard, "short").ok());
  // Manifests alone do not show it.
  EXPECT_EQ((*CheckpointsOf(Run("r1"), Check::kManifests))[1].problem, "");
  const auto checked = CheckpointsOf(Run("r1"), Check::kAll);
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ((*checked)[0].problem, "");
  EXPECT_THAT((*checked)[1].problem, HasSubstr("shard-1"));
  for (const char* damaged : {"{", "[]"}) {
    ASSERT_TRUE(WriteFileAtomically(JoinPath(Run("r1"), "result.json"), damaged).ok());
    EXPECT_THAT(Here(), ElementsAre("adult r1 Damaged", "adult r2 Unfinished last"));
    EXPECT_THAT(Find("r1").problem, HasSubstr("result.json is damaged"));
    EXPECT_EQ(Find("r1").checkpoints.size(), 2U);
  }
  ASSERT_TRUE(CreateDirectories(JoinPath(state_, "bad")).ok());
  ASSERT_TRUE(WriteFileAtomically(JoinPath(state_, "bad/run.json"), "{").ok());
  const auto here = ListRunsHere(state_);
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(here->runs.size(), 2U);
  EXPECT_THAT(here->problems, ElementsAre(HasSubstr("job bad: ")));
}

TEST_F(RunFolderTest, WhenTwoJobsShareADirectory_ARunIsOfTheOneWhoseLastItIs) {
  SetLast("census", "r1");
  SetLast("zebra", "r7");
  EXPECT_THAT(Here(), ElementsAre("adult r2 Unfinished last", "census r1 Finished last"));
  const auto held = local::Workspace::Open(state_, "zebra");
  ASSERT_TRUE(held.ok());
  // What zebra does there is not known: it may be any of them.
  EXPECT_THAT(DeleteRun(state_, Find("census")).status().message(),
              HasSubstr("r1 is not deleted: job zebra is running, and its run is kept in the same "
                        "checkpoint directory"));
}

TEST_F(RunFolderTest, Delete_RemovesTheRunAndTheJobHasAnotherLastOne) {
  const Result<std::string> last = DeleteRun(state_, Find("r2"));
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  EXPECT_EQ(*last, "r1");
  EXPECT_THAT(*ListDirectory(dir_.File("runs")), UnorderedElementsAre("lost+found", "r1"));
  EXPECT_EQ(Find("adult").run_id, "r1");
  EXPECT_EQ(*DeleteRun(state_, Find("adult")), "");
  EXPECT_THAT(*ListDirectory(dir_.File("runs")), ElementsAre("lost+found"));
  EXPECT_THAT(Here(), testing::IsEmpty());
}

TEST_F(RunFolderTest, Delete_OfAnEarlierRun_LeavesTheLastOne) {
  EXPECT_EQ(*DeleteRun(state_, Find("r1")), "");
  EXPECT_THAT(Here(), ElementsAre("adult r2 Unfinished last"));
}

TEST_F(RunFolderTest, Delete_WhenTheJobIsRunningOrNobodyKnows_Refuses) {
  const RunEntry run = Find("r1");
  {
    const auto held = local::Workspace::Open(state_, "adult");
    ASSERT_TRUE(held.ok());
    const Status running = DeleteRun(state_, run).status();
    EXPECT_EQ(running.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(running.message(), HasSubstr("r1 is not deleted: job adult is running, and its run "
                                             "is this one or lies beside it; wait for it"));
  }
  const TempDir other;
  WriteCheckpoint(other.File("r5"), {1, 1}, 2);
  EXPECT_THAT(DeleteRun(state_, Find(other.File("r5"))).status().message(),
              HasSubstr("is of no job that was run with --state-dir"));
  EXPECT_TRUE(IsDirectory(other.File("r5")));
  EXPECT_THAT(Here(), ElementsAre("adult r1 Finished", "adult r2 Unfinished last"));
}

TEST_F(RunFolderTest, WhenARemovalWasInterrupted_TheRestIsNoRun) {
  ASSERT_TRUE(RenameFile(Run("r1"), Run("r1") + kDeletedSuffix).ok());
  EXPECT_THAT(Here(), ElementsAre("adult r2 Unfinished last"));
}

}  // namespace
}  // namespace pstrain
