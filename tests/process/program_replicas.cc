#include "tests/process/program_replicas.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>

#include "base/random.h"
#include "base/text/json.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

constexpr int kPs = 2;
constexpr const char* kShards = "5";

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

}  // namespace

void ProgramReplicas::Prepare(Job job) {
  job_ = std::move(job);
  Result<local::ClaimedPorts> ports =
      local::ClaimedPorts::Claim(1 + kPs + kMostWorkers + 1, RandomSeed());
  ASSERT_TRUE(ports.ok()) << ports.status().ToString();
  ports_.emplace(std::move(ports).value());
  const std::string one =
      "{template: {spec: {containers: [{name: training, command: [" + job_.command[0] + "]}]}}";
  const std::string text =
      "apiVersion: pstrain.dev/v1alpha1\n"
      "kind: PSTrainingJob\n"
      "metadata: {name: program}\n"
      "spec:\n"
      "  strategy: {shards: " +
      std::string(kShards) +
      "}\n"
      "  replicaSpecs:\n"
      "    chief: " +
      one + "}\n    ps: " + one + ", replicas: 2}\n    worker: " + one +
      ", replicas: " + std::to_string(job_.workers) +
      "}\n  program: {closuresPerWorker: " + std::to_string(job_.closures_per_worker) +
      ", checkpoint: {directory: checkpoints, everySeconds: " + std::to_string(job_.every_seconds) +
      "}" + job_.program + "}\n";
  ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), text).ok());
  ASSERT_TRUE(CreateDirectories(RunDirectory()).ok());
}

int ProgramReplicas::Port(const Task& task) const {
  std::size_t place = 0;
  if (task.first == "ps") place = 1 + static_cast<std::size_t>(task.second);
  if (task.first == "worker") place = 1 + kPs + static_cast<std::size_t>(task.second);
  return ports_->ports().at(place);
}

int ProgramReplicas::SparePort() const { return ports_->ports().back(); }

std::string ProgramReplicas::AddressOf(const Task& task) const {
  return "127.0.0.1:" + std::to_string(Port(task));
}

std::string ProgramReplicas::TfConfig(const Task& task) const {
  const std::string chief = task.first == "chief" ? AddressOf(task) : ChiefName();
  std::string workers;
  for (int i = 0; i < job_.workers; ++i) {
    workers += (i > 0 ? ", " : "") + Quoted(AddressOf({"worker", i}));
  }
  return R"({"cluster": {"chief": [)" + Quoted(chief) + R"(], "worker": [)" + workers +
         R"(], "ps": [)" + Quoted(AddressOf({"ps", 0})) + ", " + Quoted(AddressOf({"ps", 1})) +
         R"(]}, "task": {"type": ")" + task.first + R"(", "index": )" +
         std::to_string(task.second) + "}}";
}

void ProgramReplicas::StartAll() {
  Start({"chief", 0});
  for (int i = 0; i < kPs; ++i) Start({"ps", i});
  for (int i = 0; i < job_.workers; ++i) Start({"worker", i});
}

Program& ProgramReplicas::Start(const Task& task) {
  Attempts& attempts = attempts_[task];
  if (attempts.newest) attempts.former.push_back(std::move(attempts.newest));
  std::vector<std::string> environment = {"TF_CONFIG=" + TfConfig(task),
                                          "PSTRAIN_JOB_NAME=program",
                                          "PSTRAIN_REPLICA_TYPE=" + task.first,
                                          "PSTRAIN_REPLICA_INDEX=" + std::to_string(task.second),
                                          "PSTRAIN_ATTEMPT=" + std::to_string(attempts.next++),
                                          "PSTRAIN_RUN_ID=run",
                                          "PSTRAIN_JOB_FILE=job.yaml",
                                          "PSTRAIN_SCRATCH_DIR=" + dir_.path(),
                                          "PSTRAIN_ALLOW_TEST_ONLY=1",
                                          "PSTRAIN_TEST_DIRECTORY=" + dir_.path()};
  environment.insert(environment.end(), environment_.begin(), environment_.end());
  environment.insert(environment.end(), environment_of_next_.begin(), environment_of_next_.end());
  environment_of_next_.clear();
  attempts.newest = std::make_unique<Program>(job_.command, dir_.path(), std::move(environment));
  attempts.ended = false;
  return *attempts.newest;
}

Program& ProgramReplicas::Replica(const Task& task) { return *attempts_.at(task).newest; }

void ProgramReplicas::Kill(const Task& task) {
  Replica(task).Signal(SIGKILL);
  EXPECT_EQ(Replica(task).Wait(kLimit), 128 + SIGKILL);
}

testing::AssertionResult ProgramReplicas::RunUntil(const std::function<bool()>& condition) {
  std::string failed;
  const auto look = [&] {
    for (auto& [task, attempts] : attempts_) {
      if (attempts.ended) continue;
      const int code = attempts.newest->Wait(std::chrono::seconds(0));
      if (code == -1) continue;
      if (code == kExitSuccess || (leave_the_chief_ && task.first == "chief")) {
        attempts.ended = true;
      } else if (code == kExitDisrupted || code == 128 + SIGKILL) {
        Start(task);
      } else {
        failed = task.first + " " + std::to_string(task.second) + " has ended with " +
                 std::to_string(code);
        return true;
      }
    }
    return condition();
  };
  const bool in_time = Eventually(look, kLimit);
  if (!failed.empty()) return testing::AssertionFailure() << failed << "\n" << Logs();
  if (!in_time) return testing::AssertionFailure() << "it takes too long\n" << Logs();
  return testing::AssertionSuccess();
}

testing::AssertionResult ProgramReplicas::RunToTheEnd() {
  return RunUntil([this] { return attempts_.at({"chief", 0}).ended; });
}

std::int64_t ProgramReplicas::Counted(const std::string& name) const {
  const Result<std::string> text = ReadFile(JoinPath(RunDirectory(), "result.json"));
  const Result<Json> result = text.ok() ? ParseJson(*text) : Result<Json>(text.status());
  const Json* value = result.ok() ? result->Find(name) : nullptr;
  return value == nullptr ? -1 : value->AsInt64().value_or(-1);
}

std::string ProgramReplicas::LogsOf(const Task& task) const {
  const auto found = attempts_.find(task);
  if (found == attempts_.end()) return "";
  std::string logs;
  const auto add = [&](const Program& program) {
    logs += "-- " + task.first + " " + std::to_string(task.second) + "\n" + program.Stderr() +
            program.Stdout();
  };
  for (const auto& program : found->second.former) add(*program);
  if (found->second.newest) add(*found->second.newest);
  return logs;
}

std::string ProgramReplicas::Logs() const {
  std::string logs;
  for (const auto& [task, attempts] : attempts_) logs += LogsOf(task);
  return logs;
}

Gate::Gate(std::string directory, std::string moment)
    : directory_(std::move(directory)), moment_(std::move(moment)) {
  const std::string path = directory_ + "/gate";
  // Under another name until it is closed: nobody is to find it open.
  file_ = UniqueFd(open((path + ".new").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  EXPECT_TRUE(file_.valid());
  EXPECT_EQ(flock(file_.get(), LOCK_EX), 0);
  EXPECT_EQ(write(file_.get(), moment_.data(), moment_.size()),
            static_cast<ssize_t>(moment_.size()));
  EXPECT_EQ(rename((path + ".new").c_str(), path.c_str()), 0);
}

std::string Gate::Arrived(const std::string& who) const {
  const Result<std::string> says = ReadFile(directory_ + "/arrived-" + moment_ + "-" + who);
  return says.ok() ? *says : "";
}

void Gate::Open() {
  if (!file_.valid()) return;
  unlink((directory_ + "/gate").c_str());
  file_ = UniqueFd();
}

}  // namespace pstrain
