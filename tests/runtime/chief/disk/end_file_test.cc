#include "runtime/chief/disk/end_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

#include "base/os/file_faults.h"
#include "proto/contract/run_files.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EndFileTest : public chief_test::ChiefPartsTest {
 protected:
  void Write(bool finished) {
    end_file_.Write(finished, [] { return std::string("{}"); });
  }

  EndFile end_file_{chief()};
};

TEST_F(EndFileTest, WhenTheDiskIsFullForTenMinutes_TheResultIsTriedUntilItIsThere) {
  int writes = 0;
  {
    const ScopedFileFaults faults([&](std::string_view call, const std::string&) {
      if (call != "write") return 0;
      ++writes;
      return ENOSPC;
    });
    for (const auto begin = clock_.Now(); clock_.Now() - begin < seconds(600);) {
      Write(true);
      clock_.Advance(milliseconds(20));
    }
  }
  EXPECT_FALSE(end_file_.Done(true));
  EXPECT_GT(writes, 7);
  EXPECT_LT(writes, 30);
  clock_.Advance(seconds(30));
  Write(true);
  EXPECT_TRUE(end_file_.Done(true));
  EXPECT_TRUE(FileExists(RunFile(kRunResultFile)));
}

TEST_F(EndFileTest, WhenTheResultCannotBeWritten_SaysSinceWhenAndWhy) {
  const auto problem = [this] {
    CheckpointProblem found{.age = seconds(7), .failing = seconds(0), .error = OkStatus()};
    end_file_.Report(found);
    EXPECT_EQ(found.age, seconds(7));
    return found;
  };
  EXPECT_EQ(problem().failing, seconds(0));
  {
    const ScopedFileFaults faults(
        [](std::string_view call, const std::string&) { return call == "write" ? EDQUOT : 0; });
    Write(true);
    clock_.Advance(seconds(40));
    Write(true);
  }
  EXPECT_EQ(problem().failing, seconds(40));
  EXPECT_EQ(ErrnoOf(problem().error), EDQUOT);
  clock_.Advance(seconds(30));
  Write(true);
  EXPECT_EQ(problem().failing, seconds(0));
  EXPECT_TRUE(problem().error.ok());
}

TEST_F(EndFileTest, WhenADrainCannotBeWrittenDown_IsNotTriedAgain) {
  {
    const ScopedFileFaults faults(
        [](std::string_view call, const std::string&) { return call == "write" ? ENOSPC : 0; });
    Write(false);
  }
  EXPECT_TRUE(end_file_.Done(false));
  EXPECT_FALSE(end_file_.Done(true));
  EXPECT_FALSE(FileExists(RunFile(kRunStoppedFile)));
}

TEST_F(EndFileTest, WhenAnotherChiefHasTakenTheRun_NothingIsWrittenAndItIsNotDone) {
  MakeSetup();
  for (const bool finished : {false, true}) {
    EndFile end_file(chief());
    EXPECT_FALSE(end_file.superseded());
    end_file.Write(finished, [] { return std::string("{}"); });
    EXPECT_TRUE(end_file.superseded());
    EXPECT_FALSE(end_file.Done(finished));
    end_file.Write(finished, [] { return std::string("{}"); });
    EXPECT_FALSE(end_file.Done(finished));
  }
  EXPECT_FALSE(FileExists(RunFile(kRunStoppedFile)));
  EXPECT_FALSE(FileExists(RunFile(kRunResultFile)));
}

TEST_F(EndFileTest, WhileTheDiskHangs_OneWriteIsUnderWay) {
  disk_.Pause();
  Write(true);
  Write(true);
  EXPECT_EQ(disk_.waiting(), 1u);
  EXPECT_FALSE(end_file_.Done(true));
  disk_.Release();
  EXPECT_TRUE(end_file_.Done(true));
}

}  // namespace
}  // namespace pstrain
