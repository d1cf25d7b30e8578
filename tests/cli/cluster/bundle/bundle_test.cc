#include "cli/cluster/bundle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DebugBundleTest : public SessionFixture {
 protected:
  std::string Bundle() {
    const Outcome outcome = DebugBundle(session()).Write("a", file_);
    EXPECT_EQ(AnswerOf(outcome).exit_code, 0);
    const Result<std::string> tar = ReadFile(file_);
    return tar.ok() ? *tar : tar.status().ToString();
  }
  const TempDir dir_;
  const std::string file_ = dir_.File("a.tar");
};

TEST_F(DebugBundleTest, Write_HasObjectsEventsLogsAndMetrics) {
  api_.server().Put(kube::ConfigMapResource(),
                    Parsed(R"({"metadata":{"namespace":"ns","name":"a-hash",
                               "labels":{"pstrain.dev/job-name":"a"}},"data":{"job.yaml":"the job"}})"));
  api_.server().Put(kube::EventResource(),
                    Parsed(R"({"metadata":{"namespace":"ns","name":"e"},"note":"an event"})"));
  for (const std::string pod : {"a-chief-0-x", "a-worker-1-x"}) {
    api_.server().PutPage("/api/v1/namespaces/ns/pods/" + pod + "/log",
                          "2026-01-01T00:00:00Z line of " + pod + "\n");
    PutAgentPage(pod, "/metrics", "metrics of " + pod);
    PutAgentPage(pod, "/progress", "progress of " + pod);
  }
  const std::string tar = Bundle();
  for (const char* part :
       {"job.json", "pods.json", "configmaps.json", "services.json", "events.json",
        "logs/worker-1.2.log", "agents/worker-1.2.metrics.txt", "agents/chief-0.0.progress.json",
        "README.txt", "the job", "an event", "2026-01-01T00:00:00Z line of a-worker-1-x",
        "metrics of a-chief-0-x", "progress of a-worker-1-x", "Everything was read."}) {
    EXPECT_THAT(tar, HasSubstr(part));
  }
  EXPECT_EQ(Told(), "");
}

TEST_F(DebugBundleTest, Write_LeavesSecretsOutAndSaysSo) {
  Json pod = *api_.server().Find(kube::PodResource(), {"ns", "a-chief-0-x"});
  pod.FindMutable("spec")->Set(
      "containers", Parsed(R"([{"name":"main","env":[{"name":"PASSWORD","value":"s3cret"}]}])"));
  api_.server().Put(kube::PodResource(), pod);
  const std::string tar = Bundle();
  EXPECT_THAT(tar, Not(HasSubstr("s3cret")));
  EXPECT_THAT(tar, HasSubstr("PASSWORD"));
  EXPECT_THAT(tar, HasSubstr("Left out: Secrets; the values of variables"));
  EXPECT_EQ(api_.server().CountRequests("/secrets"), 0);
}

TEST_F(DebugBundleTest, Write_SaysWhatCouldNotBeRead) {
  Fail("/configmaps", 403, "no way");
  Fail("/log", 403, "no logs");
  const std::string tar = Bundle();
  EXPECT_THAT(tar, HasSubstr("- configmaps.json: you may not list configmaps"));
  EXPECT_THAT(tar, HasSubstr("- logs/worker-1.2.log: no logs"));
  EXPECT_THAT(tar, HasSubstr("- agents/worker-1.2.metrics.txt: "));
  EXPECT_THAT(Told(), HasSubstr("not in it: configmaps.json"));
}

TEST_F(DebugBundleTest, Write_WhereItCannot_SaysSo) {
  const Problem problem = ProblemOf(DebugBundle(session()).Write("a", "/nowhere/a.tar"));
  EXPECT_EQ(problem.exit_code, kExitRefused);
  EXPECT_THAT(problem.sentence, HasSubstr("/nowhere/a.tar"));
  EXPECT_EQ(ProblemOf(DebugBundle(session()).Write("b", file_)).exit_code, kExitNotThere);
  EXPECT_FALSE(FileExists(file_));
}

}  // namespace
}  // namespace pstrain::cluster
