// A disk that is full for a minute and more, for real: a small tmpfs for the checkpoints. The
// minutes can be chosen: PSTRAIN_FULL_DISK_SECONDS=600.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/os/unique_fd.h"
#include "tests/process/exact_fixture.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr seconds kLimit{300};
constexpr int kEpochs = 9;

seconds FullFor() {
  const char* text = std::getenv("PSTRAIN_FULL_DISK_SECONDS");
  return seconds(text == nullptr ? 60 : std::atoi(text));
}

class FullDiskTest : public ExactRunTest {
 protected:
  void SetUp() override {
    if (unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "only root makes a mount namespace";
    ExactRunTest::SetUp();
    ASSERT_TRUE(CreateDirectories(Volume()).ok());
    ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(mount("none", Volume().c_str(), "tmpfs", 0, "size=8m"), 0);
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount2(Volume().c_str(), MNT_DETACH);
  }

  /// `pstrain run` with these overrides.
  std::vector<std::string> RunWith(std::vector<std::string> overrides) {
    overrides_ = std::move(overrides);
    std::vector<std::string> command = {PSTRAIN_BIN_DIR "/pstrain", "run", "job.yaml",
                                        "--allow-test-only", "--json"};
    for (const std::string& text : overrides_) command.insert(command.end(), {"--set", text});
    return command;
  }

  std::string Volume() const { return dir_.File("checkpoints"); }
  std::string Ballast() const { return JoinPath(Volume(), "ballast"); }
  void Fill() const {
    const UniqueFd file(open(Ballast().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file.valid());
    const std::string filler(4096, 'x');
    while (write(file.get(), filler.data(), filler.size()) > 0) {
    }
    ASSERT_EQ(errno, ENOSPC);
  }

 private:
  bool mounted_ = false;
};

TEST_F(FullDiskTest, Run_WhenTheDiskStaysFull_TrainsOnAndItsEndWaitsForTheFinalCheckpoint) {
  Program program(
      RunWith({"spec.training.epochs=" + std::to_string(kEpochs), "spec.runPolicy.backoffLimit=0"}),
      dir_.path());
  const auto says = [this](const std::string& name) {
    const auto chief = ReadChief("exact");
    return chief ? chief->Value(name) : -1;
  };
  ASSERT_TRUE(Eventually([&] { return says("checkpoints") > 0; }, kLimit)) << program.Stderr();
  Fill();
  const SteadyTime full_since = SteadyNow();
  ASSERT_TRUE(Eventually([&] { return says("examples_committed") == kRecords * kEpochs; }, kLimit))
      << program.Stderr();
  ASSERT_TRUE(Eventually([&] { return says("checkpoint_failing_seconds") > 0; }, kLimit))
      << program.Stderr();
  PauseFor(FullFor() - (SteadyNow() - full_since), std::stop_token());
  EXPECT_TRUE(Runs(program.pid())) << program.Stderr();
  EXPECT_GT(says("checkpoint_failing_seconds"), 0);
  EXPECT_GT(says("checkpoint_age_seconds"), 0);
  EXPECT_EQ(says("checkpoint_errno"), ENOSPC);
  ASSERT_TRUE(RemoveFile(Ballast()).ok());
  const Ended ended = WaitFor(program);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
  const Result<std::string> log = ReadFile(dir_.File(".pstrain/exact/logs/chief-0-0.log"));
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(*log, HasSubstr("no_checkpoint_for_seconds="));
  EXPECT_THAT(*log, HasSubstr("checkpoints can be written again"));
}

TEST_F(FullDiskTest, Chief_WhenReplacedOnAFullDisk_WaitsForRoomAndTheJobGoesOn) {
  // The kill is one failure; a chief that ends because of the disk would be the second.
  // Until it has room the chief answers nobody: its peers wait peerTimeoutSeconds for it.
  const seconds patience = FullFor() + kLimit;
  Program program(
      RunWith({"spec.training.epochs=" + std::to_string(kEpochs), "spec.runPolicy.backoffLimit=1",
               "spec.training.peerTimeoutSeconds=" + std::to_string(patience.count())}),
      dir_.path());
  const auto chief = [this] { return ReadChief("exact"); };
  ASSERT_TRUE(Eventually([&] { return chief() && chief()->Value("checkpoints") > 0; }, kLimit))
      << program.Stderr();
  Fill();
  const std::optional<local::AgentReading> reading = chief();
  ASSERT_TRUE(reading && reading->child_pid > 0);
  ASSERT_EQ(kill(static_cast<pid_t>(reading->child_pid), SIGKILL), 0);
  const std::string log = dir_.File(".pstrain/exact/logs/chief-0-1.log");
  ASSERT_TRUE(Eventually(
      [&] {
        const Result<std::string> text = ReadFile(log);
        return text.ok() && text->find("cannot be used now; trying again") != std::string::npos;
      },
      kLimit))
      << program.Stderr();
  PauseFor(FullFor(), std::stop_token());
  EXPECT_TRUE(Runs(program.pid())) << program.Stderr();
  ASSERT_TRUE(RemoveFile(Ballast()).ok());
  const Ended ended = WaitFor(program);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

}  // namespace
}  // namespace pstrain
