// A process or an agent of each role that is stopped for PSTRAIN_PAUSE_SECONDS of the environment,
// and goes on: by default one second, longer than the silence for which a peer counts as lost with
// --all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/mutex.h"
#include "operator/plan/plan.h"
#include "tests/process/replicas_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::Not;

std::chrono::seconds Pause() {
  const char* text = std::getenv("PSTRAIN_PAUSE_SECONDS");
  return std::chrono::seconds(text == nullptr ? 1 : std::atoi(text));
}
/// Nobody counts as lost who was away for less, also on a busy machine.
constexpr std::chrono::seconds kShort{3};

/// False when it was gone before it was to go on.
bool PauseProcess(pid_t pid) {
  EXPECT_EQ(kill(pid, SIGSTOP), 0);
  PauseFor(Pause(), std::stop_token());  // Time itself is what is tested.
  return kill(pid, SIGCONT) == 0;
}

/// Lines of a chief's log that say that a replica is lost.
std::vector<std::string> Losses(const std::string& log) {
  std::vector<std::string> losses;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("counts as lost") != std::string::npos ||
        line.find("a worker is silent") != std::string::npos) {
      losses.push_back(line);
    }
  }
  return losses;
}

class PausedProcessTest : public ReplicasTest, public testing::WithParamInterface<const char*> {};

TEST_P(PausedProcessTest, Job_WhenTheProcessIsStoppedAndGoesOn_EndsExactlyAndNobodyElseIsLost) {
  const std::string role = GetParam();
  AddEvaluator();
  BarrierAt(10);
  BarrierAt(60);
  StartAll();
  // It trains while the process stands still, and has not ended before it goes on.
  Continue(10);
  EXPECT_TRUE(PauseProcess(Replica(role, role == "ps" || role == "worker" ? 1 : 0).pid()));
  Continue(60);
  ExpectExact();
  for (const std::string& loss : Losses(chief_->Stderr())) {
    EXPECT_THAT(loss, HasSubstr(role + "=1")) << "a pause of " << role << " is nobody else's";
    EXPECT_GT(Pause(), kShort) << loss;
  }
  if (role == "chief" && Pause() > kShort) {
    EXPECT_THAT(chief_->Stderr(), HasSubstr("this process was paused"));
  }
}

class PausedAgentTest : public ExactRunTest, public testing::WithParamInterface<const char*> {
 protected:
  /// The agent is the parent of the process that it names.
  static pid_t ParentOf(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream rest(text.substr(name_end + 1));
    std::string state;
    pid_t parent = 0;
    rest >> state >> parent;
    return parent;
  }
};

// The process goes on meanwhile, so that the job may be done before the agent is.
TEST_P(PausedAgentTest, Run_WhenTheAgentIsStoppedAndGoesOn_EndsExactlyWithoutAnotherAttempt) {
  const std::string role = GetParam();
  Program program({PSTRAIN_BIN_DIR "/pstrain", "run", "job.yaml", "--allow-test-only", "--json"},
                  dir_.path());
  pid_t agent = 0;
  const auto works = [&] {
    const auto chief = ReadChief("exact");
    if (!chief || chief->Value("examples_committed") <= 0) return false;
    const auto reading = ReadReplica("exact", role);
    if (reading && reading->child_pid > 0) agent = ParentOf(static_cast<pid_t>(reading->child_pid));
    return agent > 1;
  };
  ASSERT_TRUE(Eventually(works, std::chrono::seconds(120))) << program.Stderr();
  // What still runs when the job has finished is killed after the grace.
  EXPECT_TRUE(PauseProcess(agent) || Pause() > plan::kFinishedGrace);
  const Ended ended = WaitFor(program);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
  for (const char* replica : {"chief-0", "ps-0", "ps-1", "worker-0", "worker-1"}) {
    EXPECT_FALSE(FileExists(dir_.File(".pstrain/exact/logs/" + std::string(replica) + "-1.log")))
        << replica;
  }
}

std::string NameOf(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Of, PausedProcessTest,
                         testing::Values("chief", "ps", "worker", "evaluator"), NameOf);
INSTANTIATE_TEST_SUITE_P(Of, PausedAgentTest, testing::Values("chief", "ps", "worker"), NameOf);

}  // namespace
}  // namespace pstrain
