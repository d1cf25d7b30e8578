// A chief that is stopped for PSTRAIN_PAUSE_SECONDS: one second in the normal run, longer than the
// silence for which a peer counts as lost with --all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>

#include "base/mutex.h"
#include "tests/process/training_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kPause{PSTRAIN_PAUSE_SECONDS};
constexpr std::chrono::seconds kLimit{120};

class PausedChiefTest : public TrainingRunTest {};

TEST_F(PausedChiefTest, Adult_WhenTheChiefIsStoppedAndGoesOn_NobodyIsLost) {
  Program program(AdultCommand({}), dir_.path());
  pid_t chief = 0;
  const auto works = [&] {
    const auto reading = ReadChief("adult");
    if (!reading || reading->Value("examples_committed") <= 0) return false;
    chief = static_cast<pid_t>(reading->child_pid);
    return chief > 0;
  };
  ASSERT_TRUE(Eventually(works, kLimit)) << program.Stderr();
  ASSERT_EQ(kill(chief, SIGSTOP), 0);
  PauseFor(kPause, std::stop_token());  // Time itself is what is tested.
  ASSERT_EQ(kill(chief, SIGCONT), 0);
  ExpectAllAppliedOnce(WaitFor(program));
  const Result<std::string> log = ReadFile(dir_.File(".pstrain/adult/logs/chief-0-0.log"));
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(*log, Not(HasSubstr("silent")));
  EXPECT_THAT(*log, Not(HasSubstr("counts as lost")));
  EXPECT_FALSE(FileExists(dir_.File(".pstrain/adult/logs/chief-0-1.log")));
  if (kPause > std::chrono::seconds(3)) {
    EXPECT_THAT(*log, HasSubstr("this process was paused"));
  }
}

}  // namespace
}  // namespace pstrain
