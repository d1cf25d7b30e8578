#include "cli/cluster/job_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>

#include "cli/cluster/commands.h"
#include "cli/cluster/connect.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const kube::Resource kJobs{.group = "pstrain.dev",
                           .version = "v1alpha1",
                           .plural = "pstrainingjobs",
                           .kind = "PSTrainingJob"};

Json Parsed(const std::string& text) { return ParseJson(text).value(); }

/// Jobs "a", which runs with worker-1 restarted, and "fresh", which no operator has seen.
class JobCommandsTest : public ::testing::Test {
 protected:
  JobCommandsTest() : jobs_(api_.client(), api_.pause(), "ns", [this] { return Tick(); }) {
    PutJob("Running");
    api_.server().Put(kJobs, Parsed(R"({"metadata":{"name":"fresh","namespace":"ns"}})"));
    PutPod("a-worker-1-x", "worker", "1", "2");
    PutPod("a-chief-0-x", "chief", "0", "0");
  }

  void PutJob(const std::string& phase) {
    api_.server().Put(kJobs, Parsed(R"({"metadata":{"name":"a","namespace":"ns",
      "creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"runPolicy":{"suspend":false}},
      "status":{"phase":")" + phase +
                                    R"(","conditions":[{"type":"Running","status":"True",
        "reason":"JobRunning","message":"all run","lastTransitionTime":"2026-01-01T00:50:00Z"}],
      "replicaStatuses":{"worker":{"summary":"1/2"},"chief":{"summary":"1/1"}},
      "restarts":{"failures":3,"disruptions":4,"replicas":{"worker-1":{"attempt":2,"failures":1,
        "disruptions":1,"lastEnd":{"reason":"OOMKilled","exitCode":137,"message":"too big",
        "node":"n7","time":"2026-01-01T00:59:00Z"}},"ps-0":{"attempt":5}}},
      "training":{"step":42,"examplesPerSecond":1234.5,"loss":0.25,"examplesExpected":200,
        "examplesCommitted":50}}})"));
  }

  void PutPod(const std::string& name, const std::string& role, const std::string& index,
              const std::string& attempt) {
    api_.server().Put(
        kube::PodResource(),
        Parsed(R"({"metadata":{"namespace":"ns","name":")" + name +
               R"(","labels":{"pstrain.dev/job-name":"a","pstrain.dev/replica-type":")" + role +
               R"(","pstrain.dev/replica-index":")" + index + R"(","pstrain.dev/attempt":")" +
               attempt + R"("}},"spec":{"nodeName":"node-of-)" + role +
               R"("},"status":{"phase":"Running"}})"));
  }

  void PutEvent(const std::string& name, const std::string& kind, const std::string& about,
                const std::string& time) {
    api_.server().Put(
        kube::EventResource(),
        Parsed(R"({"metadata":{"namespace":"ns","name":")" + name + R"("},"regarding":{"kind":")" +
               kind + R"(","name":")" + about + R"("},"reason":"R)" + name +
               R"(","type":"Normal","note":"note","eventTime":")" + time + R"("})"));
  }

  void Fail(const std::string& what, int status, const std::string& words) {
    api_.server().FailNext(what, {status, R"({"kind":"Status","message":")" + words + R"("})", {}},
                           9);
  }

  Now Tick() {
    now_ += step_;
    return now_;
  }

  static Answer AnswerOf(const Outcome& outcome) {
    const auto* problem = std::get_if<Problem>(&outcome);
    EXPECT_EQ(problem, nullptr) << problem->sentence;
    return problem == nullptr ? std::get<Answer>(outcome) : Answer{};
  }

  static Problem ProblemOf(const Outcome& outcome) {
    const auto* problem = std::get_if<Problem>(&outcome);
    EXPECT_NE(problem, nullptr) << std::get<Answer>(outcome).text;
    return problem == nullptr ? Problem{} : *problem;
  }

  kube::ApiFixture api_;
  Now now_ = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1) + std::chrono::hours(1);
  std::chrono::seconds step_{0};
  JobCommands jobs_;
};

TEST_F(JobCommandsTest, ListsJobsAsATable) {
  const std::string text = AnswerOf(jobs_.List(false)).text;
  EXPECT_THAT(text,
              HasSubstr("a       Running   1/1     -    1/2       42     25%        3          "
                        "JobRunning   60m"));
  EXPECT_THAT(text, HasSubstr("fresh   -"));
  EXPECT_EQ(Parsed(AnswerOf(jobs_.List(true)).text).Find("items")->size(), 2U);
}

TEST_F(JobCommandsTest, ReportsAJob) {
  const std::string text = AnswerOf(jobs_.Status("a", false)).text;
  EXPECT_THAT(text, HasSubstr("Phase:  Running"));
  EXPECT_THAT(text, HasSubstr("Running     True     10m   JobRunning   all run"));
  EXPECT_THAT(text, HasSubstr("  worker-1   Running   node-of-worker   2         1          1"));
  EXPECT_THAT(text, HasSubstr("OOMKilled (exit 137): too big on n7, 60s ago"));
  EXPECT_THAT(text, HasSubstr("  ps-0       no pod    -                5"));
  EXPECT_THAT(text, HasSubstr("3 by failures, 4 by disruptions"));
  EXPECT_THAT(text,
              HasSubstr("25%, step 42, 1234.5 examples/s, loss 0.25 (from status, not live)"));
  EXPECT_EQ(Parsed(AnswerOf(jobs_.Status("a", true)).text)
                .Find("status")
                ->Find("phase")
                ->AsString()
                ->size(),
            7U);
}

TEST_F(JobCommandsTest, SuspendsAndResumes) {
  const auto suspended = [this] {
    return api_.server()
        .Find(kJobs, {"ns", "a"})
        ->Find("spec")
        ->Find("runPolicy")
        ->Find("suspend")
        ->AsBool();
  };
  AnswerOf(jobs_.Suspend("a", true));
  EXPECT_EQ(suspended(), true);
  AnswerOf(jobs_.Suspend("a", false));
  EXPECT_EQ(suspended(), false);
  EXPECT_EQ(ProblemOf(jobs_.Suspend("b", true)).exit_code, kExitNotThere);
}

TEST_F(JobCommandsTest, RestartsOneReplica) {
  AnswerOf(jobs_.Restart("a", "worker-1"));
  EXPECT_FALSE(api_.server().Find(kube::PodResource(), {"ns", "a-worker-1-x"}));
  EXPECT_TRUE(api_.server().Find(kube::PodResource(), {"ns", "a-chief-0-x"}));
  const Problem problem = ProblemOf(jobs_.Restart("a", "worker-1"));
  EXPECT_EQ(problem.exit_code, kExitNotThere);
  EXPECT_THAT(problem.sentence, HasSubstr("there are: chief-0"));
}

TEST_F(JobCommandsTest, WaitsForTheEnd) {
  step_ = std::chrono::seconds(1);
  EXPECT_EQ(ProblemOf(jobs_.Wait("a", std::chrono::seconds(3))).exit_code, kExitTimedOut);
  EXPECT_EQ(api_.pause().pauses().size(), 2U);
  EXPECT_EQ(ProblemOf(jobs_.Wait("fresh", std::chrono::seconds(1))).exit_code, kExitNoOperator);
  PutJob("Failed");
  EXPECT_EQ(AnswerOf(jobs_.Wait("a", {})).exit_code, 1);
  PutJob("Succeeded");
  EXPECT_EQ(AnswerOf(jobs_.Wait("a", {})).exit_code, 0);
}

TEST_F(JobCommandsTest, ShowsEventsOfJobAndPodsInOrder) {
  PutEvent("1", "Pod", "a-chief-0-x", "2026-01-01T00:59:30.123456Z");
  PutEvent("2", "PSTrainingJob", "a", "2026-01-01T00:59:00.000000Z");
  PutEvent("3", "PSTrainingJob", "other", "2026-01-01T00:59:00.000000Z");
  PutEvent("4", "Pod", "a-of-somebody", "2026-01-01T00:59:00.000000Z");
  const std::string text = AnswerOf(jobs_.Events("a")).text;
  EXPECT_LT(text.find("60s         Normal   R2"), text.find("30s         Normal   R1"));
  EXPECT_THAT(text, Not(HasSubstr("R3")));
  EXPECT_THAT(text, Not(HasSubstr("R4")));
  EXPECT_THAT(AnswerOf(jobs_.Events("fresh")).text, HasSubstr("no events of job fresh"));
}

TEST_F(JobCommandsTest, SaysWhichJobsThereAre) {
  const Problem problem = ProblemOf(jobs_.Status("b", false));
  EXPECT_EQ(problem.exit_code, kExitNotThere);
  EXPECT_THAT(problem.sentence, HasSubstr("no job b in namespace ns; there are: a, fresh;"));
}

TEST_F(JobCommandsTest, SaysThatNoOperatorHasSeenTheJob) {
  EXPECT_EQ(ProblemOf(jobs_.Status("fresh", false)).exit_code, kExitNoOperator);
}

TEST_F(JobCommandsTest, SaysThatTheCrdIsMissing) {
  Fail("/pstrainingjobs", 404, "page not found");
  EXPECT_EQ(ProblemOf(jobs_.List(false)).exit_code, kExitNotInstalled);
  const Problem problem = ProblemOf(jobs_.Status("a", false));
  EXPECT_EQ(problem.exit_code, kExitNotInstalled);
  EXPECT_THAT(problem.sentence, HasSubstr("helm install"));
}

TEST_F(JobCommandsTest, NamesVerbAndResourceThatAreForbidden) {
  Fail("DELETE", 403, "no way");
  const Problem problem = ProblemOf(jobs_.Restart("a", "worker-1"));
  EXPECT_EQ(problem.exit_code, kExitForbidden);
  EXPECT_THAT(problem.sentence, HasSubstr("you may not delete pods in namespace ns (no way)"));
  Fail("PATCH", 403, "no way");
  EXPECT_THAT(ProblemOf(jobs_.Suspend("a", true)).sentence,
              HasSubstr("you may not patch pstrainingjobs.pstrain.dev in namespace ns"));
  Fail("GET", 401, "who");
  EXPECT_EQ(ProblemOf(jobs_.List(false)).exit_code, kExitForbidden);
}

TEST_F(JobCommandsTest, SaysThatTheServerIsNotReachable) {
  api_.transport().SetUnreachable(true);
  EXPECT_EQ(ProblemOf(jobs_.List(false)).exit_code, kExitNotReached);
}

TEST_F(JobCommandsTest, PassesOnWhatTheServerRefuses) {
  Fail("PATCH", 422, "spec is fixed");
  const Problem problem = ProblemOf(jobs_.Suspend("a", true));
  EXPECT_EQ(problem.exit_code, kExitRefused);
  EXPECT_THAT(problem.sentence, HasSubstr("spec is fixed"));
}

TEST(ClusterCommandsTest, SaysThatThereIsNoKubeconfig) {
  const auto opened = Connection::Open({.kubeconfig = "/nowhere/config"});
  const auto* problem = std::get_if<Problem>(&opened);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->exit_code, kExitNoKubeconfig);
  EXPECT_THAT(problem->sentence, HasSubstr("/nowhere/config"));
  EXPECT_EQ(StatusCommand({"--kubeconfig", "/nowhere/config"}), kExitNoKubeconfig);
}

TEST(ClusterCommandsTest, RefusesWrongUsage) {
  EXPECT_EQ(StatusCommand({"a", "b"}), 2);
  EXPECT_EQ(StatusCommand({"-o", "yaml"}), 2);
  EXPECT_EQ(SuspendCommand({}), 2);
  EXPECT_EQ(RestartCommand({"a"}), 2);
  EXPECT_EQ(WaitCommand({"a", "--timeout", "soon"}), 2);
  EXPECT_EQ(EventsCommand({"a", "--unknown"}), 2);
}

TEST(ClusterCommandsTest, ReadsTimeouts) {
  EXPECT_EQ(ParseWait("90"), std::chrono::seconds(90));
  EXPECT_EQ(ParseWait("90s"), std::chrono::seconds(90));
  EXPECT_EQ(ParseWait("2h"), std::chrono::hours(2));
  EXPECT_FALSE(ParseWait(""));
  EXPECT_FALSE(ParseWait("-1"));
  EXPECT_FALSE(ParseWait("m"));
}

}  // namespace
}  // namespace pstrain::cluster
