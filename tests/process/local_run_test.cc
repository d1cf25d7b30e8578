// `pstrain run` of jobs that bring their own program, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr const char* kPstrain = PSTRAIN_BIN_DIR "/pstrain";

class LocalRunTest : public testing::Test {
 protected:
  /// `body` is what every replica does; its pid is kept in pids/<role>-<index>-<attempt>.
  void WriteJob(const std::string& body, const std::string& run_policy = "{}") {
    ASSERT_TRUE(CreateDirectories(dir_.File("pids")).ok());
    Write("program.sh",
          "#!/bin/sh\n"
          "me=$PSTRAIN_REPLICA_TYPE-$PSTRAIN_REPLICA_INDEX-$PSTRAIN_ATTEMPT\n"
          "echo $$ > pids/$me.tmp; mv pids/$me.tmp pids/$me\n" +
              body);
    ASSERT_EQ(chmod(dir_.File("program.sh").c_str(), 0755), 0);
    const std::string replica =
        "template: {spec: {containers: [{name: main, command: [./program.sh]}]}}}\n";
    Write("job.yaml",
          "apiVersion: pstrain.dev/v1alpha1\n"
          "kind: PSTrainingJob\n"
          "metadata: {name: own}\n"
          "spec:\n"
          "  runPolicy: " +
              run_policy +
              "\n"
              "  replicaSpecs:\n"
              "    chief: {replicas: 1, " +
              replica + "    ps: {replicas: 1, " + replica + "    worker: {replicas: 2, " +
              replica);
  }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(dir_.File(name), text).ok());
  }

  std::vector<std::string> Run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {kPstrain, "run", "job.yaml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// The replica's own pid, once it has told it.
  pid_t PidOf(const std::string& replica) {
    const std::string file = dir_.File("pids/" + replica);
    EXPECT_TRUE(Eventually([&] { return FileExists(file); })) << replica << " never started";
    const Result<std::string> text = ReadFile(file);
    return text.ok() ? std::stoi(*text) : -1;
  }

  std::string State(const Program& program) {
    const std::string out = program.Stdout();
    const Result<Json> report = ParseJson(out.substr(0, out.find('\n')));
    if (!report.ok() || report->Find("state") == nullptr) return "no report: " + out;
    return *report->Find("state")->AsString();
  }

  TempDir dir_;
};

constexpr const char* kChiefWaitsForSecondWorker =
    "case $me in\n"
    "  chief-*) while [ ! -e pids/worker-1-1 ]; do sleep 0.05; done; exit 0;;\n";

TEST_F(LocalRunTest, WhenAWorkerCrashes_RunsItsNextAttemptAndSucceeds) {
  WriteJob(std::string(kChiefWaitsForSecondWorker) +
           "  worker-1-0) exit 3;;\n"
           "  *) exec sleep 1000;;\n"
           "esac\n");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(State(program), "Succeeded");
  EXPECT_FALSE(Runs(PidOf("worker-1-1")));
  EXPECT_FALSE(Runs(PidOf("ps-0-0")));
  EXPECT_TRUE(FileExists(dir_.File(".pstrain/own/logs/worker-1-1.log")));
}

TEST_F(LocalRunTest, WhenBackoffLimitIsExceeded_FailsAndShowsTheLog) {
  WriteJob("case $me in worker-0-*) echo out of luck; exit 7;; *) exec sleep 1000;; esac\n",
           "{backoffLimit: 1}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_EQ(State(program), "Failed");
  EXPECT_THAT(program.Stderr(), HasSubstr("BackoffLimitExceeded"));
  EXPECT_THAT(program.Stderr(), HasSubstr("out of luck"));
}

TEST_F(LocalRunTest, WhenAReplicaExits85_RestartsItForFree) {
  WriteJob(std::string(kChiefWaitsForSecondWorker) +
               "  worker-1-0) exit 85;;\n"
               "  *) exec sleep 1000;;\n"
               "esac\n",
           "{backoffLimit: 0}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
}

TEST_F(LocalRunTest, WhenTheProgramCannotBeStarted_Fails) {
  WriteJob("exec /nonexistent/program\n", "{backoffLimit: 0}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_EQ(State(program), "Failed");
}

TEST_F(LocalRunTest, WhenTheCliIsKilled_NoProcessOutlivesIt) {
  WriteJob("exec sleep 1000\n");
  Program program(Run(), dir_.path());
  std::vector<pid_t> pids;
  for (const char* replica : {"chief-0-0", "ps-0-0", "worker-0-0", "worker-1-0"}) {
    pids.push_back(PidOf(replica));
  }
  program.Signal(SIGKILL);
  EXPECT_EQ(program.Wait(), 128 + SIGKILL);
  for (const pid_t pid : pids) EXPECT_TRUE(Eventually([&] { return !Runs(pid); })) << pid;
}

TEST_F(LocalRunTest, WhenAnAgentIsKilled_ItsProgramDiesAndIsReplaced) {
  WriteJob(
      "case $me in chief-*) while [ ! -e pids/ps-0-1 ]; do sleep 0.05; done; exit 0;;\n"
      "  *) exec sleep 1000;; esac\n");
  Program program(Run(), dir_.path());
  const pid_t first = PidOf("ps-0-0");
  std::optional<pid_t> agent;
  ASSERT_TRUE(Eventually([&] {
    const Result<std::string> text = ReadFile(dir_.File(".pstrain/own/endpoints.json"));
    const Result<Json> endpoints = text.ok() ? ParseJson(*text) : Result<Json>(text.status());
    if (!endpoints.ok()) return false;
    for (const Json& replica : endpoints->Find("replicas")->items()) {
      if (*replica.Find("role")->AsString() == "ps") {
        agent = static_cast<pid_t>(*replica.Find("pid")->AsInt64());
      }
    }
    return agent.has_value();
  }));
  kill(*agent, SIGKILL);
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_FALSE(Runs(first));
}

TEST_F(LocalRunTest, WhenInterrupted_StopsAndTellsHowToGoOn) {
  WriteJob("exec sleep 1000\n");
  Program program(Run(), dir_.path());
  const pid_t chief = PidOf("chief-0-0");
  const pid_t worker = PidOf("worker-1-0");
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(State(program), "Stopped");
  EXPECT_THAT(program.Stderr(), HasSubstr("pstrain run 'job.yaml' --resume"));
  EXPECT_FALSE(Runs(chief));
  EXPECT_FALSE(Runs(worker));
}

TEST_F(LocalRunTest, WhenTheJobRunsAlready_Refuses) {
  WriteJob("exec sleep 1000\n");
  Program first(Run(), dir_.path());
  PidOf("chief-0-0");
  Program second(Run(), dir_.path());
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_THAT(second.Stderr(), HasSubstr("another run of job own"));
}

TEST_F(LocalRunTest, WhenAKillDoesNotFire_Exits3) {
  WriteJob("case $me in chief-*) exit 0;; *) exec sleep 1000;; esac\n");
  Program program(Run({"--chaos", "worker@50"}), dir_.path());
  EXPECT_EQ(program.Wait(), 3);
}

TEST_F(LocalRunTest, WhenUsedWrongly_Exits2) {
  WriteJob("exit 0\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--chaos", "worker:7@50"}, "no worker-7"},
      {{"--chaos", "worker@x"}, "PERCENT"},
      {{"--stop-at", "101"}, "--stop-at"},
      {{"--volume", "data"}, "NAME=DIR"},
      {{"--volume", "data=/tmp"}, "no replica mounts it"},
      {{"--resme"}, "did you mean --resume"},
      {{"--set", "spec.replicaSpecs.ps.replicas=two"}, "replicas"},
  };
  for (const auto& [arguments, message] : cases) {
    Program program(Run(arguments), dir_.path());
    EXPECT_EQ(program.Wait(), 2) << message;
    EXPECT_THAT(program.Stderr(), HasSubstr(message));
  }
}

TEST_F(LocalRunTest, WhenNothingWasRun_ResumeIsRefused) {
  WriteJob("exit 0\n");
  Program program(Run({"--resume"}), dir_.path());
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_THAT(program.Stderr(), HasSubstr("nothing to resume"));
}

}  // namespace
}  // namespace pstrain
