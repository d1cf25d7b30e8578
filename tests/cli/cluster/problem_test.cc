// What each command says when it cannot answer: one exit code and one sentence for each cause.
#include "cli/cluster/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cli/cluster/agents/top.h"
#include "cli/cluster/bundle/bundle.h"
#include "cli/cluster/describe_config.h"
#include "cli/cluster/job_commands.h"
#include "cli/cluster/logs/logs.h"
#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;

class ProblemTest : public SessionFixture {
 protected:
  using Command = std::function<Outcome(const std::string& job)>;
  std::map<std::string, Command> Commands() {
    JobCommands* jobs = &jobs_;
    return {{"status", [jobs](const std::string& job) { return jobs->Status(job, false); }},
            {"suspend", [jobs](const std::string& job) { return jobs->Suspend(job, true); }},
            {"restart", [jobs](const std::string& job) { return jobs->Restart(job, "worker-1"); }},
            {"wait",
             [jobs](const std::string& job) { return jobs->Wait(job, std::chrono::seconds(1)); }},
            {"events", [jobs](const std::string& job) { return jobs->Events(job); }},
            {"logs", [this](const std::string& job) { return Logs(session()).Show({.job = job}); }},
            {"top", [this](const std::string& job) { return Top(session(), job); }},
            {"describe-config",
             [this](const std::string& job) { return DescribeConfig(session(), job); }},
            {"debug bundle", [this](const std::string& job) {
               return DebugBundle(session()).Write(job, "/nowhere/file.tar");
             }}};
  }
  /// One sentence that ends with the way out.
  static void ExpectSentence(const std::string& command, const Outcome& outcome, int exit_code,
                             const std::string& words) {
    const Problem problem = ProblemOf(outcome);
    EXPECT_EQ(problem.exit_code, exit_code) << command << ": " << problem.sentence;
    EXPECT_THAT(problem.sentence, HasSubstr(words)) << command;
    EXPECT_THAT(problem.sentence, HasSubstr("; ")) << command;
    EXPECT_EQ(problem.sentence.find('\n'), std::string::npos) << command;
  }

  JobCommands jobs_{session()};
};

TEST_F(ProblemTest, NoSuchJob_NamesThoseThereAre) {
  for (const auto& [name, command] : Commands()) {
    ExpectSentence(name, command("b"), kExitNotThere, "there is no job b in namespace ns");
  }
}

TEST_F(ProblemTest, NoCluster_SaysThatItIsNotReachable) {
  api_.transport().SetUnreachable(true);
  for (const auto& [name, command] : Commands()) {
    const bool waits = name == "wait";
    ExpectSentence(name, command("a"), waits ? kExitTimedOut : kExitNotReached,
                   "the apiserver is not reachable");
  }
}

TEST_F(ProblemTest, NoCrd_SaysHowToInstallIt) {
  api_.server().FailNext("/pstrainingjobs", {404, "page not found", {}}, 99);
  for (const auto& [name, command] : Commands()) {
    ExpectSentence(name, command("a"), kExitNotInstalled, "helm install");
  }
}

TEST_F(ProblemTest, NoPermission_NamesVerbAndResource) {
  api_.server().FailNext("pstrain.dev", {403, R"({"kind":"Status","message":"no way"})", {}}, 99);
  for (const auto& [name, command] : Commands()) {
    const std::string verb = name == "suspend" ? "patch" : "get";
    ExpectSentence(name, command("a"), kExitForbidden,
                   "you may not " + verb + " pstrainingjobs.pstrain.dev in namespace ns (no way)");
  }
}

TEST_F(ProblemTest, NotLoggedIn_SaysSo) {
  api_.server().FailNext("pstrain.dev", {401, R"({"kind":"Status","message":"who"})", {}}, 99);
  for (const auto& [name, command] : Commands()) {
    ExpectSentence(name, command("a"), kExitForbidden, "does not accept who the kubeconfig says");
  }
}

TEST_F(ProblemTest, JobWithoutOperator_SaysWhatToCheck) {
  for (const auto& [name, command] : Commands()) {
    // These need no operator; the last writes what there is.
    if (name == "suspend" || name == "restart" || name == "events" || name == "debug bundle") {
      continue;
    }
    ExpectSentence(name, command("fresh"), kExitNoOperator, "no operator has seen it");
  }
}

TEST_F(ProblemTest, PodGone_SaysWhereTheLastLineIs) {
  api_.server().Remove(kube::PodResource(), {"ns", "a-worker-1-x"});
  ExpectSentence("logs", Logs(session()).Show({.job = "a", .role = "worker"}), kExitNotThere,
                 "status.restarts.replicas.worker-1.lastEnd.message: too big");
  ExpectSentence("restart", jobs_.Restart("a", "worker-1"), kExitNotThere, "has no pod");
}

TEST(Explain, CredentialPluginThatFails_IsNoOutage) {
  kube::ApiError error;
  error.status = Status(StatusCode::kUnauthenticated, "user \"me\": no credential");
  const Problem problem = Explain(error, "get", "pods", "ns");
  EXPECT_EQ(problem.exit_code, kExitForbidden);
  EXPECT_THAT(problem.sentence, HasSubstr("nothing shows the apiserver who you are: user \"me\""));
}

}  // namespace
}  // namespace pstrain::cluster
