#include "tests/agent/agent_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/contract/stated_failure.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kChild = PSTRAIN_AGENT_TEST_CHILD;

Json ReadJson(const std::string& path) {
  const auto text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  if (!text.ok()) return {};
  const auto json = ParseJson(*text);
  EXPECT_TRUE(json.ok()) << *text;
  return json.ok() ? *json : Json();
}

TEST(Agent, WhenTheProgramExits_ExitsWithItsCode) {
  for (const int code : {0, 3, 85}) {
    AgentProcess agent({}, {"sh", "-c", "exit " + std::to_string(code)});
    EXPECT_EQ(agent.Wait(), code);
  }
}

TEST(Agent, WhenTheProgramIsEndedByASignal_ExitsWith128PlusIt) {
  AgentProcess killed({}, {"sh", "-c", "kill -KILL $$"});
  EXPECT_EQ(killed.Wait(), 128 + SIGKILL);
  AgentProcess segfault({}, {"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(segfault.Wait(), 128 + SIGSEGV);
}

TEST(Agent, WhenTheProgramSaysWhyItExits87_HandsThatOnAndLeavesNoFile) {
  const TempDir temp;
  const std::string says =
      R"(printf '{"reason":"InvalidInput","message":"no such column"}' >"$PSTRAIN_FAILURE_FILE")";
  for (const int code : {87, 1}) {
    AgentProcess agent(
        {"--termination-log", temp.File("log"), "--final-stats-file", temp.File("stats")},
        {"sh", "-c", says + "; exit " + std::to_string(code)},
        {"PSTRAIN_SCRATCH_DIR=" + temp.File("")});
    EXPECT_EQ(agent.Wait(), code);
    const auto failure = StatedFailureIn(ReadJson(temp.File("log")).Find("failure"));
    const Json stats = ReadJson(temp.File("stats"));
    const auto final_failure = StatedFailureIn(stats.Find("exit")->Find("failure"));
    EXPECT_EQ(failure.has_value(), code == 87);
    EXPECT_EQ(final_failure, failure);
    if (failure) {
      EXPECT_EQ(*failure, (StatedFailure{"InvalidInput", "no such column"}));
    }
    const auto left = ListDirectory(temp.path());
    ASSERT_TRUE(left.ok());
    for (const std::string& name : *left) EXPECT_THAT(name, Not(HasSubstr("failure")));
  }
}

TEST(Agent, WhenTheProgramFails_PassesItsErrorsOnAndHasTheLastOfThem) {
  const TempDir temp;
  AgentProcess agent(
      {"--termination-log", temp.File("log"), "--final-stats-file", temp.File("stats")},
      {"sh", "-c", "echo fine; echo 'no column age' >&2; exit 1"});
  EXPECT_EQ(agent.Wait(), 1);
  EXPECT_THAT(agent.output(), HasSubstr("no column age\n"));
  const Json log = ReadJson(temp.File("log"));
  const std::string said = "the training program exited with code 1; its last line: no column age";
  EXPECT_EQ(*log.Find("message")->AsString(), said);
  EXPECT_EQ(*log.Find("last_words")->AsString(), "no column age");
  EXPECT_EQ(*ReadJson(temp.File("stats")).Find("exit")->Find("message")->AsString(), said);
}

TEST(Agent, WhenTheProgramWritesMuchToItsErrors_PassesAllOfThemOnInOrder) {
  constexpr int kLines = 50000;
  AgentProcess agent({}, {"sh", "-c",
                          "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); echo line $i; "
                          "done >&2; exit 1"});
  EXPECT_EQ(agent.Wait(), 1);
  std::size_t at = 0;
  for (int i = 1; i <= kLines; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    at = agent.output().find(line, at);
    ASSERT_NE(at, std::string::npos) << line;
    at += line.size();
  }
}

TEST(Agent, WhenThereIsNoSuchProgram_ExitsWith127AndSaysSo) {
  const TempDir temp;
  AgentProcess agent({"--termination-log", temp.File("log")}, {"/no/such/program"});
  EXPECT_EQ(agent.Wait(), 127);
  EXPECT_THAT(agent.output(), HasSubstr("/no/such/program"));
  const Json log = ReadJson(temp.File("log"));
  EXPECT_EQ(*log.Find("reason")->AsString(), "CannotStart");
  EXPECT_THAT(*log.Find("message")->AsString(), HasSubstr("/no/such/program"));
}

TEST(Agent, WhenTheProgramCannotBeExecuted_ExitsWith126) {
  const TempDir temp;
  ASSERT_TRUE(WriteFileSynced(temp.File("text"), "not a program").ok());
  AgentProcess agent({}, {temp.File("text")});
  EXPECT_EQ(agent.Wait(), 126);
}

TEST(Agent, WhenTheCommandLineIsWrong_ExitsWith2) {
  AgentProcess agent({"--no-such-option"}, {"true"});
  EXPECT_EQ(agent.Wait(), 2);
}

TEST(Agent, WhenSignalled_PassesTheSignalOn) {
  AgentProcess agent({}, {kChild, "signals"});
  agent.WaitForText("up ");
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM}) {
    agent.Signal(signal);
    agent.WaitForText("got " + std::to_string(signal));
  }
  EXPECT_EQ(agent.Wait(), 85);
  EXPECT_THAT(agent.output(), Not(HasSubstr("blocked ")));
}

TEST(Agent, WhenTheProgramExits0AfterSigterm_ExitsWith85UnlessThatIsItsEnd) {
  const TempDir temp;
  AgentProcess drained({"--termination-log", temp.File("log")}, {kChild, "stats"});
  drained.WaitForText("up ");
  drained.WaitUntilRunning();
  drained.Signal(SIGTERM);
  EXPECT_EQ(drained.Wait(), 85);
  const Json log = ReadJson(temp.File("log"));
  EXPECT_EQ(*log.Find("reason")->AsString(), "Stopped");
  EXPECT_EQ(log.Find("exit_code")->AsInt64(), 0);
  EXPECT_EQ(log.Find("told_to_stop")->AsBool(), true);
  AgentProcess finished({"--exit-0-after-sigterm", "finished"}, {kChild, "stats"});
  finished.WaitForText("up ");
  finished.WaitUntilRunning();
  finished.Signal(SIGTERM);
  EXPECT_EQ(finished.Wait(), 0);
  AgentProcess other({}, {kChild, "stats"});
  other.WaitForText("up ");
  other.WaitUntilRunning();
  other.Signal(SIGHUP);
  EXPECT_EQ(other.Wait(), 0);
}

TEST(Agent, WhenInterrupted_DrainsAsAfterSigterm) {
  const TempDir temp;
  AgentProcess drained({"--termination-log", temp.File("log")}, {kChild, "stats"});
  drained.WaitForText("up ");
  drained.WaitUntilRunning();
  drained.Signal(SIGINT);
  EXPECT_EQ(drained.Wait(), 85);
  EXPECT_EQ(ReadJson(temp.File("log")).Find("told_to_stop")->AsBool(), true);
  AgentProcess stuck({"--grace-seconds", "2"}, {kChild, "signals"});
  stuck.WaitForText("up ");
  stuck.WaitUntilRunning();
  stuck.Signal(SIGINT);
  EXPECT_EQ(stuck.Wait(), 128 + SIGKILL);
}

TEST(Agent, WhenTheProgramDoesNotStop_KillsItOneSecondBeforeTheGraceEnds) {
  const TempDir temp;
  AgentProcess agent({"--grace-seconds", "2", "--termination-log", temp.File("log")},
                     {kChild, "ignore-term"});
  const pid_t child = agent.WaitForPid("up ");
  const auto begin = SteadyNow();
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 128 + SIGKILL);
  const auto took = SteadyNow() - begin;
  EXPECT_GE(took, std::chrono::milliseconds(950));
  EXPECT_TRUE(WaitUntilGone(child));
  const Json log = ReadJson(temp.File("log"));
  EXPECT_EQ(*log.Find("reason")->AsString(), "GraceExpired");
  EXPECT_EQ(log.Find("signal")->AsInt64(), SIGKILL);
  EXPECT_EQ(log.Find("oom")->AsBool(), false);
}

TEST(Agent, WhenTheProgramLeavesProcessesInItsGroup_KillsThem) {
  AgentProcess agent({}, {"sh", "-c", "sleep 1000 & echo left $!; exit 4"});
  const pid_t left = agent.WaitForPid("left ");
  EXPECT_EQ(agent.Wait(), 4);
  EXPECT_TRUE(WaitUntilGone(left));
}

TEST(Agent, WhenTheProgramLeavesADaemon_KillsItToo) {
  AgentProcess agent({}, {kChild, "leave"});
  const pid_t left = agent.WaitForPid("left ");
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(WaitUntilGone(left));
}

TEST(Agent, WhenTheAgentIsKilled_TheProgramDiesWithIt) {
  AgentProcess agent({}, {kChild, "ignore-term"});
  const pid_t child = agent.WaitForPid("up ");
  agent.Signal(SIGKILL);
  EXPECT_TRUE(WaitUntilGone(child));
  EXPECT_EQ(agent.Wait(), -SIGKILL);
}

TEST(Agent, WhenTheProgramIsKilled_ItsStatsSurvive) {
  const TempDir temp;
  AgentProcess agent({}, {kChild, "stats"},
                     {"PSTRAIN_FINAL_STATS_FILE=" + temp.File("stats"),
                      "PSTRAIN_TERMINATION_LOG=" + temp.File("log"), "PSTRAIN_REPLICA_TYPE=worker",
                      "PSTRAIN_REPLICA_INDEX=2", "PSTRAIN_ATTEMPT=1"});
  const pid_t child = agent.WaitForPid("up ");
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(agent.Wait(), 128 + SIGKILL);

  const Json stats = ReadJson(temp.File("stats"));
  EXPECT_EQ(*stats.Find("role")->AsString(), "worker");
  EXPECT_EQ(stats.Find("index")->AsInt64(), 2);
  EXPECT_EQ(stats.Find("attempt")->AsInt64(), 1);
  EXPECT_EQ(*stats.Find("state")->AsString(), "ended");
  EXPECT_EQ(stats.Find("values")->Find("steps")->AsInt64(), 41);
  EXPECT_EQ(stats.Find("values")->Find("phase_seconds.pull")->AsDouble(), 0.5);
  EXPECT_TRUE(stats.Find("values")->Find("loss")->is_null());
  EXPECT_EQ(stats.Find("exit")->Find("code")->AsInt64(), 128 + SIGKILL);
  EXPECT_EQ(stats.Find("exit")->Find("signal")->AsInt64(), SIGKILL);
  const Json log = ReadJson(temp.File("log"));
  EXPECT_EQ(*log.Find("reason")->AsString(), "Signaled");
  EXPECT_EQ(log.Find("last_step")->AsInt64(), 41);
}

TEST(Agent, WhenItStartsTheProgram_HandsDownOnlyTheStatsPage) {
  AgentProcess agent({}, {kChild, "descriptors"});
  const std::string stats_fd = agent.WaitForText("stats ");
  EXPECT_EQ(agent.Wait(), 0);
  int descriptors = 0;
  for (std::size_t at = 0; (at = agent.output().find("fd ", at)) != std::string::npos; ++at) {
    ++descriptors;
  }
  EXPECT_EQ(descriptors, 4) << agent.output();  // stdin, stdout, stderr, the page
  EXPECT_THAT(agent.output(), HasSubstr("fd " + stats_fd + "\n"));
}

}  // namespace
}  // namespace pstrain
