#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/agent/agent_process.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr const char* kChild = PSTRAIN_AGENT_TEST_CHILD;

const std::vector<std::string> kTask = {"PSTRAIN_JOB_NAME=adult", "PSTRAIN_REPLICA_TYPE=worker",
                                        "PSTRAIN_REPLICA_INDEX=2", "PSTRAIN_ATTEMPT=3"};
constexpr std::string_view kLabels = R"(job_name="adult",replica_type="worker",replica_index="2")";

TEST(AgentEndpoints, WhenScraped_ShowTheAgentThePageAndTheProcesses) {
  AgentProcess agent({}, {kChild, "stats"}, kTask);
  agent.WaitForText("up ");
  agent.WaitUntilRunning();
  const HttpReply reply = agent.Get("/metrics");
  EXPECT_EQ(reply.status, 200);
  const std::string labels(kLabels);
  EXPECT_THAT(reply.body, HasSubstr("pstrain_agent_runtime_up{" + labels + "} 1\n"));
  EXPECT_THAT(reply.body, HasSubstr("# TYPE pstrain_worker_steps_total counter\n"));
  EXPECT_THAT(reply.body, HasSubstr("pstrain_worker_steps_total{" + labels + "} 41\n"));
  EXPECT_THAT(reply.body,
              HasSubstr("pstrain_worker_phase_seconds_total{phase=\"pull\"," + labels + "} 0.5\n"));
  EXPECT_THAT(reply.body,
              HasSubstr("process_resident_memory_bytes{" + labels + ",process=\"agent\"}"));
  EXPECT_THAT(reply.body,
              HasSubstr("process_resident_memory_bytes{" + labels + ",process=\"runtime\"}"));
}

TEST(AgentEndpoints, WhenScraped_ShowHistogramsWithCumulativeBuckets) {
  AgentProcess agent({}, {kChild, "stats"}, kTask);
  agent.WaitForText("up ");
  const std::string body = agent.Get("/metrics").body;
  const std::string labels(kLabels);
  const std::string step = "pstrain_worker_step_duration_seconds";
  EXPECT_THAT(body, HasSubstr("# TYPE " + step + " histogram\n"));
  EXPECT_THAT(body, HasSubstr(step + "_count{" + labels + "} 4\n"));
  EXPECT_THAT(body, HasSubstr(step + "_sum{" + labels + "} 100.042"));
  EXPECT_THAT(body, HasSubstr(step + "_bucket{" + labels + ",le=\"0.001\"} 0\n"));
  EXPECT_THAT(body, HasSubstr(step + "_bucket{" + labels + ",le=\"0.0025\"} 1\n"));
  EXPECT_THAT(body, HasSubstr(step + "_bucket{" + labels + ",le=\"0.025\"} 3\n"));
  EXPECT_THAT(body, HasSubstr(step + "_bucket{" + labels + ",le=\"60\"} 3\n"));
  EXPECT_THAT(body, HasSubstr(step + "_bucket{" + labels + ",le=\"+Inf\"} 4\n"));
  const std::string rpc = "pstrain_worker_rpc_duration_seconds";
  EXPECT_THAT(body, HasSubstr(rpc + "_count{method=\"push\"," + labels + "} 1\n"));
  EXPECT_THAT(body, HasSubstr(rpc + "_count{method=\"pull\"," + labels + "} 0\n"));
}

using Families = std::map<std::string, std::string>;  // name -> type

/// What a scrape of the role's numbers lacks.
void ExpectFamilies(const std::string& mode, const Families& wanted) {
  AgentProcess agent({}, {kChild, mode}, kTask);
  agent.WaitForText("up ");
  const std::string body = agent.Get("/metrics").body;
  for (const auto& [name, type] : wanted) {
    EXPECT_THAT(body, HasSubstr("# TYPE " + name + " " + type + "\n"));
    EXPECT_THAT(body, HasSubstr("# HELP " + name + " "));
  }
}

// What dashboards and alerts are made of: a name that changes must be seen.
TEST(AgentEndpoints, WhenAWorkerIsScraped_ItsNumbersHaveTheirNames) {
  ExpectFamilies("stats", {{"pstrain_worker_examples_total", "counter"},
                           {"pstrain_worker_steps_total", "counter"},
                           {"pstrain_worker_loss", "gauge"},
                           {"pstrain_worker_phase_seconds_total", "counter"},
                           {"pstrain_worker_step_duration_seconds", "histogram"},
                           {"pstrain_worker_rpc_duration_seconds", "histogram"},
                           {"pstrain_worker_gradient_staleness_steps", "histogram"},
                           {"pstrain_worker_rpc_request_bytes_total", "counter"},
                           {"pstrain_worker_rpc_response_bytes_total", "counter"},
                           {"pstrain_worker_rpc_retries_total", "counter"},
                           {"pstrain_worker_rows_pulled_total", "counter"},
                           {"pstrain_worker_rows_pushed_total", "counter"},
                           {"pstrain_worker_input_errors_total", "counter"}});
}

TEST(AgentEndpoints, WhenAPsIsScraped_ItsNumbersHaveTheirNames) {
  ExpectFamilies("ps-stats", {{"pstrain_ps_received_bytes_total", "counter"},
                              {"pstrain_ps_sent_bytes_total", "counter"},
                              {"pstrain_ps_rows_read_total", "counter"},
                              {"pstrain_ps_rows_written_total", "counter"},
                              {"pstrain_ps_queue_seconds_total", "counter"},
                              {"pstrain_ps_busy_seconds_total", "counter"},
                              {"pstrain_ps_queue_length", "gauge"},
                              {"pstrain_ps_shards", "gauge"},
                              {"pstrain_ps_state_bytes", "gauge"},
                              {"pstrain_ps_updates_total", "counter"}});
}

TEST(AgentEndpoints, WhenAChiefIsScraped_ItsNumbersHaveTheirNames) {
  ExpectFamilies("chief-stats", {{"pstrain_chief_global_step", "gauge"},
                                 {"pstrain_chief_epoch", "gauge"},
                                 {"pstrain_chief_term", "gauge"},
                                 {"pstrain_chief_recoveries_total", "counter"},
                                 {"pstrain_chief_checkpoints_total", "counter"}});
}

TEST(AgentEndpoints, WhenTheRuntimeIsNotReady_ReadyzSaysSoUntilItIs) {
  AgentProcess agent({}, {kChild, "stats"}, kTask);
  agent.WaitForText("up ");
  EXPECT_EQ(agent.Get("/healthz").status, 200);
  EXPECT_EQ(agent.Get("/readyz").status, 503);
  agent.Signal(SIGUSR1);
  agent.WaitForText("ready");
  EXPECT_EQ(agent.Get("/readyz").status, 200);
}

TEST(AgentEndpoints, WhenAForeignProgramRuns_IsReady) {
  AgentProcess agent({}, {kChild, "signals"});
  agent.WaitForText("up ");
  agent.WaitUntilRunning();
  EXPECT_EQ(agent.Get("/readyz").status, 200);
}

TEST(AgentEndpoints, WhenAskedForProgress_AnswersJson) {
  AgentProcess agent({}, {kChild, "stats"}, kTask);
  const pid_t child = agent.WaitForPid("up ");
  agent.WaitUntilRunning();
  const auto json = ParseJson(agent.Get("/progress").body);
  ASSERT_TRUE(json.ok()) << json.status().ToString();
  EXPECT_EQ(*json->Find("role")->AsString(), "worker");
  EXPECT_EQ(json->Find("index")->AsInt64(), 2);
  EXPECT_EQ(json->Find("attempt")->AsInt64(), 3);
  EXPECT_EQ(json->Find("child_pid")->AsInt64(), child);
  EXPECT_EQ(*json->Find("state")->AsString(), "running");
  EXPECT_EQ(json->Find("values")->Find("steps")->AsInt64(), 41);
}

// docs/security.md: whoever reaches the port of an agent reads numbers, and changes nothing.
TEST(AgentEndpoints, WhenAskedForAnythingByAnyMethod_TellNoSecretAndChangeNothing) {
  std::vector<std::string> environment = kTask;
  const std::string secret = "swordfish-7d1c";
  environment.push_back("MY_PASSWORD=" + secret);
  AgentProcess agent({}, {kChild, "stats", secret}, environment);
  const pid_t child = agent.WaitForPid("up ");
  agent.WaitUntilRunning();
  const std::vector<std::string> pages = {"/metrics", "/healthz", "/readyz", "/progress"};
  const std::vector<std::string> others = {
      "/",          "/stop",     "/quit",     "/debug/pprof", "/env", "/config", "/../etc/passwd",
      "/progress/", "//metrics", "/-/reload", "/%2e%2e/"};
  std::string said;
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
                             "CONNECT", "SHUTDOWN"}) {
    const bool reads = std::string_view(method) == "GET" || std::string_view(method) == "HEAD";
    for (const std::string& page : pages) {
      const HttpReply reply = agent.Ask(method, page);
      const int ready = page == "/readyz" ? 503 : 200;  // the child of this test never is
      EXPECT_EQ(reply.status, reads ? ready : 405) << method << " " << page;
      said += reply.body;
    }
    for (const std::string& path : others) {
      const HttpReply reply = agent.Ask(method, path);
      EXPECT_EQ(reply.status, reads ? 404 : 405) << method << " " << path;
      said += reply.body;
    }
  }
  EXPECT_EQ(said.find(secret), std::string::npos);
  EXPECT_EQ(said.find("MY_PASSWORD"), std::string::npos);
  const auto progress = ParseJson(agent.Get("/progress").body);
  ASSERT_TRUE(progress.ok());
  EXPECT_EQ(progress->Find("child_pid")->AsInt64(), child);
  EXPECT_EQ(*progress->Find("state")->AsString(), "running");
  EXPECT_THAT(agent.Get("/metrics").body, HasSubstr("source=\"sigterm\"} 0\n"));
}

TEST(AgentEndpoints, WhenToldToStop_CountTheNotice) {
  AgentProcess agent({}, {kChild, "ignore-term"});
  agent.WaitForText("up ");
  agent.Signal(SIGTERM);
  const auto deadline = SteadyNow() + kTestDeadline;
  std::string body;
  while (body.find("\"stopping\"") == std::string::npos && SteadyNow() < deadline) {
    body = agent.Get("/progress").body;
  }
  EXPECT_THAT(body, HasSubstr("\"stopping\""));
  const std::string metrics = agent.Get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("source=\"sigterm\"} 1\n"));
}

TEST(AgentEndpoints, WhenProcessesAreOrphaned_TheAgentReapsThem) {
  AgentProcess agent(
      {}, {"sh", "-c", std::string("( : & ) ; ( : & ) ; exec ") + kChild + " ignore-term"});
  agent.WaitForText("up ");
  const auto deadline = SteadyNow() + kTestDeadline;
  const std::string wanted =
      "pstrain_agent_orphans_reaped_total{job_name=\"\",replica_type=\"\","
      "replica_index=\"0\"} 2\n";
  std::string body;
  while (body.find(wanted) == std::string::npos && SteadyNow() < deadline) {
    body = agent.Get("/metrics").body;
  }
  EXPECT_THAT(body, HasSubstr(wanted));
}

TEST(AgentEndpoints, WhenThePortIsInUse_TheAgentExitsWith1BeforeItStartsAnything) {
  AgentProcess first({}, {kChild, "ignore-term"});
  const TempDir temp;
  const std::string address = "127.0.0.1:" + std::to_string(first.Port());
  AgentProcess second({"--metrics-address", address, "--termination-log", temp.File("log")},
                      {"touch", temp.File("started")});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_FALSE(FileExists(temp.File("started")));
  EXPECT_THAT(second.output(), HasSubstr(address));
  const auto log = ReadFile(temp.File("log"));
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(*log, HasSubstr("AgentError"));
  EXPECT_THAT(*log, HasSubstr(address));
}

}  // namespace
}  // namespace pstrain
