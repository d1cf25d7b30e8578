#include "local/replicas/last_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

TEST(LastRun, ComesBackAsItWasWritten) {
  const TempDir dir;
  EXPECT_EQ(ReadLastRun(dir.path()).status(),
            NotFoundError(dir.File("run.json") + " does not exist"));
  ASSERT_TRUE(WriteLastRun(dir.path(), "adult", {"0f", "/checkpoints"}).ok());
  const Result<LastRun> run = ReadLastRun(dir.path());
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(run->run_id, "0f");
  EXPECT_EQ(run->checkpoint_directory, "/checkpoints");
}

TEST(LastRun, WhenTheFileNamesNoRun_IsDamaged) {
  const TempDir dir;
  for (const char* text : {"", "{", "[]", "{\"run_id\":7}", "{\"run_id\":\"\"}"}) {
    ASSERT_TRUE(WriteFileAtomically(dir.File("run.json"), text).ok());
    EXPECT_EQ(ReadLastRun(dir.path()).status(),
              DataLossError(dir.File("run.json") + " is damaged, it names no run_id"))
        << text;
  }
}

TEST(LastRun, OfAnOlderVersion_HasNoCheckpointDirectory) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("run.json"), "{\"run_id\":\"0f\"}").ok());
  EXPECT_EQ(ReadLastRun(dir.path())->checkpoint_directory, "");
}

}  // namespace
}  // namespace pstrain::local
