#include "cli/cluster/job_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class JobCommandsTest : public SessionFixture {
 protected:
  void PutEvent(const std::string& name, const std::string& kind, const std::string& about,
                const std::string& time) {
    api_.server().Put(
        kube::EventResource(),
        Parsed(R"({"metadata":{"namespace":"ns","name":")" + name + R"("},"regarding":{"kind":")" +
               kind + R"(","name":")" + about + R"("},"reason":"R)" + name +
               R"(","type":"Normal","note":"note","eventTime":")" + time + R"("})"));
  }
  bool HasPod(const std::string& name) {
    return api_.server().Find(kube::PodResource(), {"ns", name}).has_value();
  }

  JobCommands jobs_{session()};
};

TEST_F(JobCommandsTest, ListsJobsAsATable) {
  const std::string text = AnswerOf(jobs_.List(false)).text;
  EXPECT_THAT(text,
              HasSubstr("a       Running   1/1     -    1/2       42     25%        3          "
                        "JobRunning   60m"));
  EXPECT_THAT(text, HasSubstr("fresh   -"));
  EXPECT_EQ(Parsed(AnswerOf(jobs_.List(true)).text).Find("items")->size(), 2U);
}

TEST_F(JobCommandsTest, List_HasTheReasonThatTheOperatorGives) {
  api_.server().Put(JobResource(), Parsed(R"({"metadata":{"name":"b","namespace":"ns"},"status":{
      "phase":"Pending","reason":"ImagePullBackOff","conditions":[{"type":"Created",
      "status":"True","reason":"JobCreated","lastTransitionTime":"2026-01-01T00:50:00Z"}]}})"));
  const std::string text = AnswerOf(jobs_.List(false)).text;
  EXPECT_THAT(text, HasSubstr("ImagePullBackOff"));
  EXPECT_THAT(text, Not(HasSubstr("JobCreated")));
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

TEST_F(JobCommandsTest, Status_WhereTheAgentsAnswer_HasLiveRates) {
  PutAgentPage("a-chief-0-x", "/metrics", "pstrain_chief_examples_committed 100\n");
  PutAgentPage("a-worker-1-x", "/metrics", "pstrain_worker_examples_total 10\n");
  pause_.meanwhile = [this] {
    PutAgentPage("a-chief-0-x", "/metrics", "pstrain_chief_examples_committed 400\n");
    PutAgentPage("a-worker-1-x", "/metrics", "pstrain_worker_examples_total 60\n");
  };
  const std::string text = AnswerOf(jobs_.Status("a", false)).text;
  EXPECT_THAT(text, HasSubstr("300.0 examples/s (live)"));
  EXPECT_THAT(text, HasSubstr("50.0 examples/s    OOMKilled"));
  EXPECT_THAT(text, Not(HasSubstr("1234.5")));
}

TEST_F(JobCommandsTest, Status_WhereTheAgentsMayNotBeAsked_HasThoseOfTheStatus) {
  Fail("/proxy/", 403, "no way");
  EXPECT_THAT(AnswerOf(jobs_.Status("a", false)).text,
              HasSubstr("1234.5 examples/s, loss 0.25 (from status, not live)"));
}

TEST_F(JobCommandsTest, SuspendsAndResumes) {
  const auto suspended = [this] {
    return api_.server()
        .Find(JobResource(), {"ns", "a"})
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
  EXPECT_FALSE(HasPod("a-worker-1-x"));
  EXPECT_TRUE(HasPod("a-chief-0-x"));
  const Problem problem = ProblemOf(jobs_.Restart("a", "worker-1"));
  EXPECT_EQ(problem.exit_code, kExitNotThere);
  EXPECT_THAT(problem.sentence, HasSubstr("there are: chief-0"));
}

TEST_F(JobCommandsTest, Restart_TakesTheNewestAttempt) {
  PutPod("a-worker-1-y", "worker", "1", "10");
  PutPod("a-worker-1-w", "worker", "1", "9");
  AnswerOf(jobs_.Restart("a", "worker-1"));
  EXPECT_FALSE(HasPod("a-worker-1-y"));
  EXPECT_TRUE(HasPod("a-worker-1-x"));
  EXPECT_TRUE(HasPod("a-worker-1-w"));
}

TEST_F(JobCommandsTest, Restart_PassesOverPodsThatAreOver) {
  PutPod("a-worker-1-y", "worker", "1", "3", R"({"phase":"Failed"})");
  PutPod("a-worker-1-z", "worker", "1", "4", R"({"phase":"Running","containerStatuses":[
    {"name":"main","state":{"terminated":{}}},{"name":"sidecar","state":{"running":{}}}]})");
  AnswerOf(jobs_.Restart("a", "worker-1"));
  EXPECT_FALSE(HasPod("a-worker-1-x"));
  EXPECT_THAT(ProblemOf(jobs_.Restart("a", "worker-1")).sentence,
              HasSubstr("pod a-worker-1-z of worker-1 (attempt 4) has ended"));
  PutPod("a-worker-1-v", "worker", "1", "5", R"({"phase":"Running"})",
         R"(,"deletionTimestamp":"2026-01-01T00:59:59Z")");
  const Problem problem = ProblemOf(jobs_.Restart("a", "worker-1"));
  EXPECT_EQ(problem.exit_code, kExitNotThere);
  EXPECT_THAT(problem.sentence, HasSubstr("(attempt 5) is being deleted"));
  EXPECT_EQ(api_.server().CountRequests("DELETE"), 1);
}

/// Puts a successor of the same name in the place of a pod, before the delete of it arrives.
class SuccessorTransport final : public kube::Transport {
 public:
  SuccessorTransport(kube::ApiFixture& api, std::string pod) : api_(api), pod_(std::move(pod)) {}
  Result<kube::HttpReply> Send(const kube::HttpRequest& request,
                               const std::stop_token& stop) override {
    if (request.method == kube::HttpMethod::kDelete) {
      Json successor = *api_.server().Find(kube::PodResource(), {"ns", pod_});
      successor.FindMutable("metadata")->Set("uid", Json::String(""));
      api_.server().Remove(kube::PodResource(), {"ns", pod_});
      api_.server().Put(kube::PodResource(), successor);
    }
    return api_.transport().Send(request, stop);
  }
  Result<kube::HttpReply> Stream(const kube::HttpRequest& request, kube::ByteSink& sink,
                                 const std::stop_token& stop) override {
    return api_.transport().Stream(request, sink, stop);
  }

 private:
  kube::ApiFixture& api_;
  const std::string pod_;
};

TEST_F(JobCommandsTest, Restart_DoesNotHitASuccessor) {
  SuccessorTransport transport(api_, "a-worker-1-x");
  kube::ApiClient client(transport, api_.limiter(), api_.pause(), {});
  Session own{.client = client,
              .pause = pause_,
              .clock = clock_,
              .name_space = "ns",
              .out = session().out,
              .tell = session().tell};
  const Problem problem = ProblemOf(JobCommands(own).Restart("a", "worker-1"));
  EXPECT_EQ(problem.exit_code, kExitNotThere);
  EXPECT_THAT(problem.sentence, HasSubstr("has gone in the meantime, and nothing was deleted"));
  EXPECT_TRUE(HasPod("a-worker-1-x"));
}

TEST_F(JobCommandsTest, WaitsForTheEnd) {
  EXPECT_EQ(ProblemOf(jobs_.Wait("a", std::chrono::seconds(3))).exit_code, kExitTimedOut);
  EXPECT_EQ(clock_.Now(), std::chrono::seconds(4)) << "two questions, two seconds apart";
  EXPECT_THAT(Told(), HasSubstr("waiting for job a in namespace ns, which is Running\n"));
  EXPECT_EQ(ProblemOf(jobs_.Wait("fresh", std::chrono::seconds(1))).exit_code, kExitNoOperator);
  PutJob("Failed");
  EXPECT_EQ(AnswerOf(jobs_.Wait("a", {})).exit_code, 1);
  PutJob("Succeeded");
  EXPECT_EQ(AnswerOf(jobs_.Wait("a", {})).exit_code, 0);
}

TEST_F(JobCommandsTest, Wait_GoesOnOverOutages) {
  constexpr std::string_view kGet = "GET /apis/pstrain.dev/v1alpha1/namespaces/ns/pstrainingjobs/a";
  // Each question is asked twice.
  api_.server().FailNext(std::string(kGet), {503, "{}", {}}, 4);
  const Problem problem = ProblemOf(jobs_.Wait("a", std::chrono::seconds(7)));
  EXPECT_EQ(problem.exit_code, kExitTimedOut);
  EXPECT_THAT(problem.sentence, HasSubstr("is still Running"));
  EXPECT_THAT(Told(), HasSubstr("still waiting for job a: the apiserver is not reachable"));
  EXPECT_THAT(Told(), HasSubstr("waiting for job a in namespace ns"));
}

TEST_F(JobCommandsTest, Wait_WhenTheOutageLasts_SaysSoAtItsEnd) {
  api_.transport().SetUnreachable(true);
  const Problem problem = ProblemOf(jobs_.Wait("a", std::chrono::seconds(7)));
  EXPECT_EQ(problem.exit_code, kExitTimedOut);
  EXPECT_THAT(problem.sentence, HasSubstr("is not known to have ended after 7 s: the apiserver"));
  EXPECT_EQ(ProblemOf(jobs_.Wait("a", {})).exit_code, kExitNotReached)
      << "nothing waits for ever for a server that was never there";
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

}  // namespace
}  // namespace pstrain::cluster
