#include "local/replicas/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

TEST(Workspace_IdentityKey, IsOfItsUserAloneAndNewForEachRun) {
  const TempDir dir;
  const Result<Workspace> workspace = Workspace::Open(dir.path(), "job");
  ASSERT_TRUE(workspace.ok()) << workspace.status().ToString();
  ASSERT_TRUE(workspace->WriteIdentityKey().ok());
  const Result<std::string> first = ReadFile(workspace->IdentityKeyFile());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->size(), 32u);
  struct stat info{};
  ASSERT_EQ(stat(workspace->IdentityKeyFile().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_TRUE(workspace->WriteIdentityKey().ok());
  EXPECT_NE(*ReadFile(workspace->IdentityKeyFile()), *first);
}

class ResumedRun : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return JoinPath(dir_.path(), name); }

  void SetUp() override {
    workspace_.emplace(*Workspace::Open(At("state"), "job"));
    ASSERT_TRUE(CreateDirectories(At("a/run")).ok());
    ASSERT_TRUE(workspace_->BeginRun("run", At("a")).ok());
    ASSERT_TRUE(WriteFileAtomically(workspace_->File("stats/left"), "").ok());
  }

  const TempDir dir_;
  std::optional<Workspace> workspace_;
};

TEST_F(ResumedRun, WithAnotherCheckpointDirectory_IsRefusedAndNothingIsChanged) {
  const Status refused = workspace_->ResumeRun("run", At("b"));
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  for (const std::string& words : {std::string("spec.training.checkpoint.directory"), At("b"),
                                   At("a/run"), std::string("without --resume")}) {
    EXPECT_NE(refused.message().find(words), std::string::npos) << refused.message();
  }
  EXPECT_TRUE(FileExists(workspace_->File("stats/left")));
  EXPECT_TRUE(workspace_->ResumeRun("run", At("a/../a/")).ok());
  EXPECT_FALSE(FileExists(workspace_->File("stats/left")));
}

TEST_F(ResumedRun, WhoseDirectoryWasMoved_GoesOnThere) {
  ASSERT_TRUE(CreateDirectories(At("b/run")).ok());
  ASSERT_TRUE(RemoveAll(At("a")).ok());
  EXPECT_TRUE(workspace_->ResumeRun("run", At("b")).ok());
  EXPECT_EQ(workspace_->ResumeRun("run", At("a")).code(), StatusCode::kFailedPrecondition);
}

// A link to itself stands for what the disk does not show now.
TEST_F(ResumedRun, WhoseFilesCannotBeSeen_SaysWhyAndNotThatTheyAreAbsent) {
  std::filesystem::create_directory_symlink(At("b"), At("b"));
  const Status moved = workspace_->ResumeRun("run", At("b"));
  EXPECT_EQ(moved, ErrnoError(ELOOP, "stat " + At("b/run")));
  const std::string file = workspace_->File("run.json");
  ASSERT_TRUE(RemoveFile(file).ok());
  EXPECT_EQ(workspace_->LastRunId().status().code(), StatusCode::kNotFound);
  std::filesystem::create_symlink(file, file);
  EXPECT_EQ(workspace_->LastRunId().status(), ErrnoError(ELOOP, "open " + file));
}

}  // namespace
}  // namespace pstrain::local
