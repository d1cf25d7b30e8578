#include "cli/cluster/logs/logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LogsTest : public SessionFixture {
 protected:
  LogsTest() {
    PutLog("a-chief-0-x",
           "2026-01-01T00:00:01.000000000Z one\n2026-01-01T00:00:03.000000000Z three\n");
    PutLog("a-worker-1-x",
           "2026-01-01T00:00:02.000000000Z two\n2026-01-01T00:00:04.000000000Z four\n");
  }
  void PutLog(const std::string& pod, const std::string& text) {
    api_.server().PutPage("/api/v1/namespaces/ns/pods/" + pod + "/log", text);
  }

  Logs logs_{session()};
};

TEST_F(LogsTest, Show_HasTheReplicaBeforeEachLine) {
  EXPECT_EQ(AnswerOf(logs_.Show({.job = "a"})).exit_code, 0);
  EXPECT_EQ(out_, "chief-0: one\nchief-0: three\nworker-1: two\nworker-1: four\n");
  EXPECT_EQ(api_.server().CountRequests("a-worker-1-x/log?timestamps=true&container=main"), 1)
      << "of the training container, not of the first";
}

TEST_F(LogsTest, Show_Merged_IsInTheOrderOfTime) {
  AnswerOf(logs_.Show({.job = "a", .merge = true, .timestamps = true}));
  EXPECT_EQ(out_,
            "chief-0: 2026-01-01T00:00:01.000000000Z one\n"
            "worker-1: 2026-01-01T00:00:02.000000000Z two\n"
            "chief-0: 2026-01-01T00:00:03.000000000Z three\n"
            "worker-1: 2026-01-01T00:00:04.000000000Z four\n");
}

TEST_F(LogsTest, Show_Followed_EndsWithTheContainers) {
  AnswerOf(logs_.Show({.job = "a", .follow = true}));
  for (const char* line : {"chief-0: one\n", "worker-1: two\n", "worker-1: four\n"}) {
    EXPECT_THAT(out_, HasSubstr(line));
  }
  EXPECT_EQ(api_.server().CountRequests("/log?timestamps=true&container=main&follow=true"), 2);
}

TEST_F(LogsTest, Show_OfOneReplica_PassesTailAndSince) {
  AnswerOf(logs_.Show(
      {.job = "a", .role = "worker", .index = 1, .tail = 5, .since = std::chrono::seconds(90)}));
  EXPECT_EQ(out_, "worker-1: two\nworker-1: four\n");
  EXPECT_EQ(api_.server().CountRequests("tailLines=5&sinceSeconds=90"), 1);
}

TEST_F(LogsTest, Show_Previous_TakesTheAttemptBefore) {
  PutPod("a-worker-1-w", "worker", "1", "1", R"({"phase":"Failed"})");
  PutLog("a-worker-1-w", "2026-01-01T00:00:00Z old\n");
  AnswerOf(logs_.Show({.job = "a", .role = "worker", .previous = true}));
  EXPECT_EQ(out_, "worker-1: old\n");
}

TEST_F(LogsTest, Show_Previous_OfAReplicaThatHasEnded_IsNotItsLastAttempt) {
  Json job = *api_.server().Find(JobResource(), {"ns", "a"});
  // As of an attempt 2 that has succeeded: the attempt that would come next.
  job.FindMutable("status")->Set("restarts",
                                 Parsed(R"({"replicas":{"worker-1":{"attempt":3,"succeeded":true,
                             "lastEnd":{"reason":"Deleted","message":"of attempt 1"}}}})"));
  api_.server().Put(JobResource(), job);
  EXPECT_THAT(ProblemOf(logs_.Show({.job = "a", .role = "worker", .previous = true})).sentence,
              HasSubstr("lastEnd.message: of attempt 1"));
  EXPECT_EQ(out_, "");
}

TEST_F(LogsTest, Show_WhenThePodIsGone_SaysWhereTheLastLineIs) {
  const Problem previous = ProblemOf(logs_.Show({.job = "a", .role = "worker", .previous = true}));
  EXPECT_EQ(previous.exit_code, kExitNotThere);
  EXPECT_THAT(previous.sentence,
              HasSubstr("the pod of the former attempt of worker-1 is gone (OOMKilled (exit 137)"));
  EXPECT_THAT(previous.sentence,
              HasSubstr("in status.restarts.replicas.worker-1.lastEnd.message: too big"));
  api_.server().Remove(kube::PodResource(), {"ns", "a-worker-1-x"});
  EXPECT_THAT(ProblemOf(logs_.Show({.job = "a", .role = "worker"})).sentence,
              HasSubstr("the pod of the newest attempt of worker-1 is gone"));
  AnswerOf(logs_.Show({.job = "a"}));
  EXPECT_THAT(out_, HasSubstr("chief-0: one"));
  EXPECT_THAT(Told(), HasSubstr("worker-1 is gone"));
  EXPECT_THAT(Told(), HasSubstr("no pod of the newest attempt of ps-0, and the status has no end"));
  EXPECT_THAT(ProblemOf(logs_.Show({.job = "a", .role = "chief", .previous = true})).sentence,
              HasSubstr("there was no former attempt of chief-0"));
}

TEST_F(LogsTest, Show_WhenThePodGoesMeanwhile_SaysTheSame) {
  Fail("a-worker-1-x/log", 404, "not found");
  EXPECT_THAT(ProblemOf(logs_.Show({.job = "a", .role = "worker"})).sentence,
              HasSubstr("lastEnd.message: too big"));
}

TEST_F(LogsTest, Show_WhenOneHasNoLogYet_ShowsTheOthers) {
  Fail("a-worker-1-x/log", 400, "container main is waiting to start");
  EXPECT_EQ(AnswerOf(logs_.Show({.job = "a"})).exit_code, 0);
  EXPECT_THAT(out_, HasSubstr("chief-0: one"));
  EXPECT_THAT(Told(), HasSubstr("no log of worker-1 (container main is waiting to start)"));
}

TEST_F(LogsTest, Show_WhenNotPermitted_NamesVerbAndResource) {
  Fail("/log", 403, "no way");
  const Problem problem = ProblemOf(logs_.Show({.job = "a"}));
  EXPECT_EQ(problem.exit_code, kExitForbidden);
  EXPECT_THAT(problem.sentence, HasSubstr("you may not get pods/log in namespace ns (no way)"));
}

TEST_F(LogsTest, Show_OfWhatIsNotThere_SaysWhatIs) {
  const Problem replica = ProblemOf(logs_.Show({.job = "a", .role = "worker", .index = 7}));
  EXPECT_EQ(replica.exit_code, kExitNotThere);
  EXPECT_THAT(replica.sentence, HasSubstr("no such replica; there are: chief-0, worker-1"));
  EXPECT_EQ(ProblemOf(logs_.Show({.job = "fresh"})).exit_code, kExitNoOperator);
  EXPECT_EQ(ProblemOf(logs_.Show({.job = "b"})).exit_code, kExitNotThere);
}

TEST_F(LogsTest, Show_WhenNobodyReads_Ends) {
  session().out = [](std::string_view) { return false; };
  EXPECT_EQ(AnswerOf(logs_.Show({.job = "a", .merge = true, .follow = true})).exit_code, 0);
  EXPECT_EQ(AnswerOf(logs_.Show({.job = "a"})).exit_code, 0);
  EXPECT_THAT(Told(), Not(HasSubstr("nobody")));
}

}  // namespace
}  // namespace pstrain::cluster
