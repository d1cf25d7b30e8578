// `pstrain run` of jobs that bring their own program, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "base/os/child_processes.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr const char* kPstrain = PSTRAIN_BIN_DIR "/pstrain";

class LocalRunTest : public testing::Test {
 protected:
  /// `body` is what every replica does; its pid is kept in pids/<role>-<index>-<attempt>.
  void WriteJob(const std::string& body, const std::string& run_policy = "{}",
                const std::string& pod_spec = "") {
    ASSERT_TRUE(CreateDirectories(dir_.File("pids")).ok());
    Write("program.sh",
          "#!/bin/sh\n"
          "me=$PSTRAIN_REPLICA_TYPE-$PSTRAIN_REPLICA_INDEX-$PSTRAIN_ATTEMPT\n"
          "echo $$ > pids/$me.tmp; mv pids/$me.tmp pids/$me\n" +
              body);
    ASSERT_EQ(chmod(dir_.File("program.sh").c_str(), 0755), 0);
    const std::string replica = "template: {spec: {" + pod_spec +
                                "containers: [{name: main, command: [./program.sh]}]}}}\n";
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

  /// The processes that a replica with kLeavesProcesses has started and does not end itself.
  std::vector<pid_t> LeftBy(const std::string& replica) {
    return {PidOf(replica + ".plain"), PidOf(replica + ".session")};
  }

  std::vector<pid_t> LeftByAll() {
    std::vector<pid_t> left;
    for (const char* replica : {"chief-0-0", "ps-0-0", "worker-0-0", "worker-1-0"}) {
      for (const pid_t pid : LeftBy(replica)) left.push_back(pid);
    }
    return left;
  }

  static bool NoneRuns(const std::vector<pid_t>& pids) {
    return std::none_of(pids.begin(), pids.end(), Runs);
  }

  /// The agent of the only ps, from endpoints.json.
  pid_t PsAgent() {
    pid_t agent = -1;
    EXPECT_TRUE(Eventually([&] {
      const Result<std::string> text = ReadFile(dir_.File(".pstrain/own/endpoints.json"));
      const Result<Json> endpoints = text.ok() ? ParseJson(*text) : Result<Json>(text.status());
      if (!endpoints.ok()) return false;
      for (const Json& replica : endpoints->Find("replicas")->items()) {
        if (*replica.Find("role")->AsString() == "ps") {
          agent = static_cast<pid_t>(*replica.Find("pid")->AsInt64());
        }
      }
      return agent > 0;
    }));
    return agent;
  }

  std::string State(const Program& program) {
    const std::string out = program.Stdout();
    const Result<Json> report = ParseJson(out.substr(0, out.find('\n')));
    if (!report.ok() || report->Find("state") == nullptr) return "no report: " + out;
    return *report->Find("state")->AsString();
  }

  TempDir dir_;
};

/// One child in the program's own process group, one in a session of its own.
constexpr const char* kLeavesProcesses =
    "sleep 1000 & echo $! > pids/$me.plain.tmp; mv pids/$me.plain.tmp pids/$me.plain\n"
    "setsid sleep 1000 & echo $! > pids/$me.session.tmp; mv pids/$me.session.tmp "
    "pids/$me.session\n";

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

TEST_F(LocalRunTest, WhenAReplicaFails_TheErrorHasItsLastLine) {
  WriteJob("case $me in worker-0-*) echo no column age >&2; exit 7;; *) exec sleep 1000;; esac\n",
           "{backoffLimit: 0}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_THAT(program.Stderr(),
              testing::EndsWith("the last was worker-0: Error, exit code 7: the training program "
                                "exited with code 7; its last line: no column age\n"));
}

TEST_F(LocalRunTest, WhenRestartPolicyIsExitCode_TheCodeDecides) {
  WriteJob("case $me in worker-0-0) kill -9 $$;; worker-0-1) exit 7;; *) exec sleep 1000;; esac\n");
  Program program(Run({"--set", "spec.replicaSpecs.worker.restartPolicy=ExitCode"}), dir_.path());
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_THAT(program.Stderr(), HasSubstr("ReplicaFailed: worker-0 exited with code 7"));
  EXPECT_FALSE(FileExists(dir_.File("pids/worker-0-2")));
}

TEST_F(LocalRunTest, WhenRestartPolicyIsAlways_AWorkerThatExits0RunsAgain) {
  WriteJob(std::string(kChiefWaitsForSecondWorker) +
               "  worker-1-0) exit 0;;\n"
               "  *) exec sleep 1000;;\n"
               "esac\n",
           "{backoffLimit: 0}");
  Program program(Run({"--set", "spec.replicaSpecs.worker.restartPolicy=Always"}), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
}

TEST_F(LocalRunTest, WhenThereIsNoChief_TheWorkersEndTheJob) {
  WriteJob("case $me in worker-*) exit 0;; *) exec sleep 1000;; esac\n");
  Program program(Run({"--set", "spec.successPolicy=AllWorkers", "--set",
                       "spec.replicaSpecs.chief.replicas=0"}),
                  dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_FALSE(FileExists(dir_.File("pids/chief-0-0")));
  EXPECT_FALSE(Runs(PidOf("ps-0-0")));
}

TEST_F(LocalRunTest, WhenAWorkerCrashesMoreOftenThanItsLimit_TheJobGoesOnWithoutIt) {
  WriteJob(
      "case $me in\n"
      "  chief-*) while [ ! -e pids/worker-0-0 ]; do sleep 0.05; done; sleep 2; exit 0;;\n"
      "  worker-0-*) exit 7;;\n"
      "  *) exec sleep 1000;;\n"
      "esac\n");
  Program program(Run({"--set", "spec.replicaSpecs.worker.backoffLimitPerReplica=0"}), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_FALSE(FileExists(dir_.File("pids/worker-0-1")));
  EXPECT_THAT(program.Stderr(), HasSubstr("given up: worker-0: Error, exit code 7"));
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

TEST_F(LocalRunTest, WhenTheChiefExits85AndNobodyToldItTo_ItHasCrashed) {
  WriteJob("case $me in chief-*) exit 85;; *) exec sleep 1000;; esac\n", "{backoffLimit: 0}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_EQ(State(program), "Failed");
  EXPECT_FALSE(FileExists(dir_.File("pids/chief-0-1")));
}

TEST_F(LocalRunTest, WhenAReplicaKeepsExiting86_ItsAttemptsSlowDownAndTheJobGoesOn) {
  WriteJob(
      "case $me in\n"
      "  chief-*) while [ ! -e pids/worker-1-2 ]; do sleep 0.05; done; exit 0;;\n"
      "  worker-1-*) exit 86;;\n"
      "  *) exec sleep 1000;;\n"
      "esac\n",
      "{backoffLimit: 0}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(State(program), "Succeeded");
  EXPECT_THAT(program.Stderr(), HasSubstr("worker-1 does not start again before"));
  EXPECT_THAT(program.Stderr(), HasSubstr("2 attempts in a row were ended within 10 s"));
  EXPECT_FALSE(FileExists(dir_.File("pids/worker-1-4")));
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
  kill(PsAgent(), SIGKILL);
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_FALSE(Runs(first));
}

TEST_F(LocalRunTest, WhenTheCliIsKilled_NothingThatProgramsStartedOutlivesIt) {
  WriteJob(std::string(kLeavesProcesses) + "wait\n");
  Program program(Run(), dir_.path());
  const std::vector<pid_t> left = LeftByAll();
  const std::vector<pid_t> inner = ChildProcesses(program.pid());
  ASSERT_EQ(inner.size(), 1U);
  program.Signal(SIGKILL);
  EXPECT_EQ(program.Wait(), 128 + SIGKILL);
  EXPECT_TRUE(Eventually([&] { return NoneRuns(left) && NoneRuns(inner); }));
}

TEST_F(LocalRunTest, WhenTheGuardedPartOfTheCliIsKilled_TheGuardKillsTheRest) {
  WriteJob(std::string(kLeavesProcesses) + "wait\n");
  Program program(Run(), dir_.path());
  const std::vector<pid_t> left = LeftByAll();
  const std::vector<pid_t> inner = ChildProcesses(program.pid());
  ASSERT_EQ(inner.size(), 1U);
  kill(inner.front(), SIGKILL);
  EXPECT_EQ(program.Wait(), 128 + SIGKILL);
  EXPECT_TRUE(NoneRuns(left));
}

TEST_F(LocalRunTest, WhenAnAgentIsKilled_NothingOfItsProgramIsLeftForTheNextAttempt) {
  WriteJob(std::string(kLeavesProcesses) +
           "case $me in chief-*) while [ ! -e go ]; do sleep 0.05; done; exit 0;;\n"
           "  *) wait;; esac\n");
  Program program(Run(), dir_.path());
  const std::vector<pid_t> left = LeftBy("ps-0-0");
  kill(PsAgent(), SIGKILL);
  PidOf("ps-0-1");
  EXPECT_TRUE(NoneRuns(left));
  Write("go", "");
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_TRUE(NoneRuns(LeftBy("chief-0-0")));
}

TEST_F(LocalRunTest, WhenCleanPodPolicyIsNone_LetsReplicasRunToTheirEnd) {
  WriteJob("case $me in chief-*) exit 0;; *) while [ ! -e go ]; do sleep 0.05; done;; esac\n",
           "{cleanPodPolicy: None}");
  Program program(Run(), dir_.path());
  const pid_t worker = PidOf("worker-1-0");
  ASSERT_TRUE(Eventually([&] {
    return program.Stderr().find("cleanPodPolicy None") != std::string::npos;
  })) << program.Stderr();
  EXPECT_TRUE(Runs(worker));
  Write("go", "");
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(State(program), "Succeeded");
}

TEST_F(LocalRunTest, WhenCleanPodPolicyIsNone_ASignalStopsWhatStillRuns) {
  WriteJob("case $me in chief-*) exit 0;; *) exec sleep 1000;; esac\n", "{cleanPodPolicy: None}");
  Program program(Run(), dir_.path());
  const pid_t worker = PidOf("worker-1-0");
  ASSERT_TRUE(Eventually([&] {
    return program.Stderr().find("cleanPodPolicy None") != std::string::npos;
  })) << program.Stderr();
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(State(program), "Succeeded");
  EXPECT_FALSE(Runs(worker));
}

TEST_F(LocalRunTest, WhenCleanPodPolicyIsAll_RemovesTheLogsAtTheEnd) {
  WriteJob("case $me in chief-*) exit 0;; *) exec sleep 1000;; esac\n", "{cleanPodPolicy: All}");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(State(program), "Succeeded");
  EXPECT_FALSE(FileExists(dir_.File(".pstrain/own/logs")));
}

TEST_F(LocalRunTest, WhenTheTemplateHasAGracePeriod_AProgramThatIgnoresSigtermIsKilledAfterIt) {
  WriteJob(
      "echo $PSTRAIN_GRACE_SECONDS > pids/$me.grace\n"
      "case $me in chief-*) while [ ! -e pids/worker-1-0 ]; do sleep 0.05; done; exit 0;; esac\n"
      "trap '' TERM; while :; do sleep 0.05; done\n",
      "{}", "terminationGracePeriodSeconds: 2, ");
  Program program(Run(), dir_.path());
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_EQ(*ReadFile(dir_.File("pids/worker-0-0.grace")), "2\n");
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
