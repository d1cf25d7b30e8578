#include "cli/cluster/agents/top.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;

class TopTest : public SessionFixture {};

TEST_F(TopTest, Top_IsATable) {
  PutAgentPage("a-chief-0-x", "/metrics", "pstrain_chief_examples_committed 100\n");
  PutAgentPage("a-worker-1-x", "/metrics",
               "pstrain_worker_examples_total 10\n"
               "process_resident_memory_bytes{process=\"runtime\"} 3000\n");
  EXPECT_EQ(AnswerOf(Top(session(), "a")).text,
            "REPLICA    ATTEMPT   RATE             BUSY   MEMORY    NODE\n"
            "chief-0    0         0.0 examples/s   -      -         node-of-chief\n"
            "worker-1   2         0.0 examples/s   -      2.9 KiB   node-of-worker\n");
  EXPECT_EQ(Told(), "");
}

TEST_F(TopTest, Top_WhenAnAgentDoesNotAnswer_NamesItAfterTheOthers) {
  PutAgentPage("a-chief-0-x", "/metrics", "pstrain_chief_examples_committed 100\n");
  Fail("a-worker-1-x", 503, "dial tcp");
  const Answer answer = AnswerOf(Top(session(), "a"));
  EXPECT_EQ(answer.exit_code, kExitNoAgent);
  EXPECT_THAT(answer.text, HasSubstr("0.0 examples/s"));
  EXPECT_THAT(answer.text, HasSubstr("worker-1   2         no answer"));
  EXPECT_THAT(Told(),
              HasSubstr("the agent of worker-1 (pod a-worker-1-x) does not answer: dial tcp"));
}

TEST_F(TopTest, Top_WhereTheAgentsCannotBeAsked_ShowsTheStatus) {
  Fail("/proxy/", 403, "no way");
  const Answer answer = AnswerOf(Top(session(), "a"));
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("1234.5 examples/s"));
  EXPECT_THAT(Told(), HasSubstr("you may not get pods/proxy"));
  api_.server().Remove(kube::PodResource(), {"ns", "a-worker-1-x"});
  api_.server().Remove(kube::PodResource(), {"ns", "a-chief-0-x"});
  EXPECT_THAT(AnswerOf(Top(session(), "a")).text, HasSubstr("1234.5 examples/s"));
  EXPECT_THAT(Told(), HasSubstr("no replica of job a runs, which is Running"));
}

}  // namespace
}  // namespace pstrain::cluster
