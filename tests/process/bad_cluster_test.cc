// TF_CONFIG that is wrong, ports that are taken, peers that never come, programs that do not start.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// A port of 127.0.0.1 that is taken as long as this lives: connections to it are refused.
class TakenPort {
 public:
  TakenPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(name);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&name), size), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  }
  ~TakenPort() { close(fd_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;

  const std::string& address() const { return address_; }

 private:
  int fd_;
  std::string address_;
};

class BadCluster : public SmallJob {
 protected:
  static std::vector<std::string> Environment(const std::string& role,
                                              const std::string& tf_config) {
    return {"PSTRAIN_JOB_NAME=small", "PSTRAIN_REPLICA_TYPE=" + role, "PSTRAIN_REPLICA_INDEX=0",
            "PSTRAIN_RUN_ID=r1",      "PSTRAIN_JOB_FILE=job.yaml",    "TF_CONFIG=" + tf_config};
  }

  static std::string TfConfig(const std::string& cluster, const std::string& role) {
    return "{\"cluster\":{" + cluster + "},\"task\":{\"type\":\"" + role + "\",\"index\":0}}";
  }

  /// The runtime alone, as `role` 0 of a cluster whose chief, ps and worker have these addresses.
  ProgramEnd StartRole(const std::string& role, const std::string& chief, const std::string& ps) {
    return Start("pstrain-runtime", {}, Environment(role, TfConfig(ClusterOf(chief, ps), role)));
  }
  static std::string ClusterOf(const std::string& chief, const std::string& ps) {
    return R"("chief":[")" + chief + R"("],"ps":[")" + ps + R"("],"worker":["127.0.0.1:3"])";
  }

  /// The job has an evaluator too, and this patience.
  void WriteJobWithEvaluator(int peer_timeout_seconds) {
    WriteJob("    peerTimeoutSeconds: " + std::to_string(peer_timeout_seconds) +
             "\n"
             "    evaluation:\n"
             "      input:\n"
             "        csv: {files: [data.csv], columns: [label, age, city], labelColumn: label}\n");
    std::string job = *ReadFile(dir_.File("job.yaml"));
    const std::string worker = "    worker: {replicas: 1}\n";
    job.insert(job.find(worker), "    evaluator: {replicas: 1}\n");
    Write("job.yaml", job);
  }
};

TEST_F(BadCluster, TfConfig_WhenBad_IsRefusedWithTheReason) {
  const std::string cluster = R"("chief":["127.0.0.1:1"],"ps":["127.0.0.1:2"])";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{oops", "TF_CONFIG is not JSON: 1:2: expected a member name in quotes"},
      {"", "TF_CONFIG is not JSON: 1:1: the text ends where a value belongs"},
      {"{\"cluster\":{" + cluster + "}}", "TF_CONFIG: there is no task: this process has no role"},
      {"{\"cluster\":{" + cluster + "},\"task\":{\"type\":\"ps\",\"index\":3}}",
       "TF_CONFIG: there is no task ps 3 in the cluster, which has 1 of that role; add it to the "
       "cluster or correct the task"},
      {TfConfig(cluster, "worker"),
       "TF_CONFIG: there is no task worker 0 in the cluster, which has no role of that name; add "
       "it to the cluster or correct the task"},
      {TfConfig(R"("chief":["127.0.0.1:1"],"ps":["127.0.0.1:1"])", "ps"),
       "TF_CONFIG: the address 127.0.0.1:1 is there twice: chief 0 and ps 0; each needs its own"},
      {TfConfig(R"("ps":["127.0.0.1:1"])", "ps"), "TF_CONFIG: the cluster has no chief"},
      {TfConfig(R"("chief":["127.0.0.1:1"],"ps":["127.0.0.1"])", "ps"),
       "TF_CONFIG: own address: address \"127.0.0.1\" is not host:port"}};
  for (const auto& [tf_config, message] : cases) {
    const ProgramEnd end = Start("pstrain-runtime", {}, Environment("ps", tf_config));
    EXPECT_EQ(end.code, 2) << tf_config;
    EXPECT_EQ(end.err, "pstrain-runtime: " + message + "\n");
    const ProgramEnd agent = Start(
        "pstrain-agent", {"--metrics-address", "127.0.0.1:0", "--termination-log", "termination"},
        Environment("ps", tf_config));
    EXPECT_EQ(agent.code, 2) << tf_config;
    EXPECT_THAT(agent.err, HasSubstr("pstrain-runtime: " + message + "\n"));
    EXPECT_THAT(*ReadFile(dir_.File("termination")), HasSubstr("\"exit_code\":2"));
  }
}

TEST_F(BadCluster, Port_OfAPsOrTheChief_WhenInUse_IsNamedAndNothingIsTaken) {
  const TakenPort taken;
  const std::string message = "FAILED_PRECONDITION: listen on " + taken.address() +
                              ": Address already in use; end the process that has the port, or "
                              "take another\n";
  const ProgramEnd ps = StartRole("ps", "127.0.0.1:1", taken.address());
  EXPECT_EQ(ps.code, 1);
  EXPECT_EQ(ps.err, "pstrain-runtime: ps 0: " + message);
  const ProgramEnd chief = StartRole("chief", taken.address(), "127.0.0.1:2");
  EXPECT_EQ(chief.code, 1);
  EXPECT_EQ(chief.err, "pstrain-runtime: chief 0: " + message);
  // A chief term would have ended the chief that may run there.
  EXPECT_FALSE(FileExists(dir_.File("checkpoints")));
}

TEST_F(BadCluster, Port_OfTheAgent_WhenInUse_IsNamedAndTheProgramNotStarted) {
  const TakenPort taken;
  const ProgramEnd end =
      Start("pstrain-agent", {"--metrics-address", taken.address(), "--termination-log",
                              "termination", "--", "touch", "started"});
  EXPECT_EQ(end.code, 1);
  const std::string message = "PSTRAIN_METRICS_ADDRESS: admin server on " + taken.address() +
                              ": the port is in use; end the process that has it, or take another";
  EXPECT_THAT(end.err, HasSubstr(message));
  EXPECT_THAT(*ReadFile(dir_.File("termination")), HasSubstr(message));
  EXPECT_FALSE(FileExists(dir_.File("started")));
}

TEST_F(BadCluster, Chief_WhenItNeverComes_IsMissedByEveryRole) {
  WriteJobWithEvaluator(1);
  const TakenPort silent;
  for (const std::string role : {"ps", "worker", "evaluator"}) {
    const ProgramEnd end = StartRole(role, silent.address(), "127.0.0.1:0");
    EXPECT_EQ(end.code, 1) << role;
    EXPECT_THAT(end.err,
                HasSubstr("pstrain-runtime: " + role + " 0: DEADLINE_EXCEEDED: the chief at " +
                          silent.address() +
                          " did not answer within spec.training.peerTimeoutSeconds (1 s); last "
                          "error: UNAVAILABLE: no chief at " +
                          silent.address() + ": "));
  }
}

TEST_F(BadCluster, Chief_WhileItIsAway_EachRoleSaysSo) {
  WriteJobWithEvaluator(3600);
  const TakenPort silent;
  std::vector<std::unique_ptr<Program>> programs;
  for (const std::string role : {"ps", "worker", "evaluator"}) {
    std::vector<std::string> command =
        Environment(role, TfConfig(ClusterOf(silent.address(), "127.0.0.1:0"), role));
    command.insert(command.begin(), "/usr/bin/env");
    command.emplace_back(PSTRAIN_BIN_DIR "/pstrain-runtime");
    programs.push_back(std::make_unique<Program>(std::move(command), dir_.path()));
  }
  for (const auto& program : programs) {
    const auto warned = [&] {
      return program->Stderr().find("the chief does not answer; asking it again chief=" +
                                    silent.address()) != std::string::npos;
    };
    EXPECT_TRUE(Eventually(warned, std::chrono::seconds(60))) << program->Stderr();
  }
}

TEST_F(BadCluster, Ps_WhenItNeverComes_FailsTheJobByItsName) {
  const ProgramEnd end = Run(
      {"--set", "spec.training.peerTimeoutSeconds=10", "--set",
       "spec.replicaSpecs.ps.template={spec: {containers: [{name: m, command: [sleep, '999']}]}}"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("pstrain-runtime: chief 0: DEADLINE_EXCEEDED: ps 0 did not come "
                                 "within spec.training.peerTimeoutSeconds (10 s); see why in their "
                                 "logs, or raise it"));
}

TEST_F(BadCluster, Worker_WhenNoneComes_FailsTheJob) {
  const ProgramEnd end =
      Run({"--set", "spec.training.peerTimeoutSeconds=2", "--set",
           "spec.replicaSpecs.worker.template={spec: {containers: [{name: m, command: [sleep, "
           "'999']}]}}"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("DEADLINE_EXCEEDED: no worker came within "
                                 "spec.training.peerTimeoutSeconds (2 s); "));
}

TEST_F(BadCluster, Program_WhenItCannotBeStarted_FailsTheJobWithTheReason) {
  Write("plain.txt", "not a program");
  struct Case {
    std::string program;
    std::string reason;
    int agent_code;
  };
  const std::vector<Case> cases = {{"/nonexistent/program", "No such file or directory", 127},
                                   {dir_.File("plain.txt"), "Permission denied", 126},
                                   {dir_.File("job.yaml") + "/x", "Not a directory", 126}};
  for (const Case& bad : cases) {
    const std::string message = "cannot start '" + bad.program + "': " + bad.reason;
    const ProgramEnd agent =
        Start("pstrain-agent", {"--metrics-address", "127.0.0.1:0", "--", bad.program});
    EXPECT_EQ(agent.code, bad.agent_code);
    EXPECT_THAT(agent.err, HasSubstr(message));
    const ProgramEnd end =
        Run({"--set", "spec.replicaSpecs.ps.template={spec: {containers: [{name: m, command: ['" +
                          bad.program + "']}]}}"});
    EXPECT_EQ(end.code, 1);
    EXPECT_THAT(end.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace pstrain
