#include "tests/process/replicas_fixture.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {
namespace {

constexpr int kPs = 2;
constexpr int kWorkers = 2;
constexpr int kMostPs = 3;

/// Which of the claimed ports a replica has.
std::size_t PlaceOf(std::string_view role, int index) {
  constexpr std::size_t kFirstWorker = 1;
  constexpr std::size_t kFirstPs = kFirstWorker + kWorkers;
  if (role == "chief") return 0;
  return (role == "worker" ? kFirstWorker : kFirstPs) + static_cast<std::size_t>(index);
}

void Replace(std::string& text, std::string_view from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

}  // namespace

void ReplicasTest::SetUp() {
  ExactRunTest::SetUp();
  Result<local::ClaimedPorts> ports =
      local::ClaimedPorts::Claim(1 + kWorkers + kMostPs, RandomSeed());
  ASSERT_TRUE(ports.ok()) << ports.status().ToString();
  ports_.emplace(std::move(ports).value());
  ASSERT_TRUE(CreateDirectories(RunDirectory(run_)).ok());
}

void ReplicasTest::AddEvaluator() {
  std::string job = *ReadFile(dir_.File("job.yaml"));
  Replace(job, "    worker: {replicas: 2}\n",
          "    worker: {replicas: 2}\n    evaluator: {replicas: 1}\n");
  ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job).ok());
  std::string records;
  for (int i = 0; i < 100; ++i) records += std::to_string(i % 2) + "," + std::to_string(i) + "\n";
  ASSERT_TRUE(WriteFileAtomically(dir_.File("test.csv"), records).ok());
  AddToTraining(
      "    evaluation:\n"
      "      deadlineSeconds: 120\n"
      "      input: {csv: {files: [test.csv], columns: [label, key], labelColumn: label}}\n");
}

void ReplicasTest::AddToTraining(const std::string& lines) {
  const std::string job = *ReadFile(dir_.File("job.yaml"));
  ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job + lines).ok());
}

void ReplicasTest::SetEpochs(int epochs) {
  std::string job = *ReadFile(dir_.File("job.yaml"));
  Replace(job, "epochs: " + std::to_string(epochs_) + "\n",
          "epochs: " + std::to_string(epochs) + "\n");
  epochs_ = epochs;
  ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job).ok());
}

void ReplicasTest::SetRecords(int records) {
  WriteData(records);
  records_ = records;
}

void ReplicasTest::BarrierAt(int percent) const {
  const std::string barrier = "barrier-" + std::to_string(percent);
  ASSERT_TRUE(WriteFileAtomically(JoinPath(RunDirectory(run_), barrier), "").ok());
}

void ReplicasTest::Continue(int percent) const {
  const std::string barrier = "barrier-" + std::to_string(percent);
  ASSERT_TRUE(RemoveFile(JoinPath(RunDirectory(run_), barrier)).ok());
}

void ReplicasTest::StartAll() {
  chief_ = Start("chief", 0, kPs);
  for (int index = 0; index < kPs; ++index) ps_.push_back(Start("ps", index, kPs));
  for (int index = 0; index < kWorkers; ++index) workers_.push_back(Start("worker", index, kPs));
  if (FileExists(dir_.File("test.csv"))) evaluator_ = Start("evaluator", 0, kPs);
  ASSERT_TRUE(Eventually([this] { return Saved() > 0; }, kLimit)) << Logs();
}

std::unique_ptr<Program> ReplicasTest::Start(const std::string& role, int index, int ps) const {
  const std::string task =
      R"(, "task": {"type": ")" + role + R"(", "index": )" + std::to_string(index) + "}}";
  std::vector<std::string> command = Before(role, index);
  command.emplace_back(PSTRAIN_BIN_DIR "/pstrain-runtime");
  std::vector<std::string> environment = {
      "TF_CONFIG={\"cluster\": {\"chief\": [" + Addresses("chief", 1) + "], \"worker\": [" +
          Addresses("worker", kWorkers) + "], \"ps\": [" + Addresses("ps", ps) + "]}" + task,
      "PSTRAIN_JOB_NAME=exact",
      "PSTRAIN_REPLICA_TYPE=" + role,
      "PSTRAIN_REPLICA_INDEX=" + std::to_string(index),
      "PSTRAIN_RUN_ID=run",
      "PSTRAIN_JOB_FILE=job.yaml",
      "PSTRAIN_SCRATCH_DIR=" + dir_.path(),
      "PSTRAIN_ALLOW_TEST_ONLY=1",
      "PSTRAIN_PS_REPLICAS_FILE=" + dir_.File("ps-replicas")};
  environment.insert(environment.end(), environment_.begin(), environment_.end());
  return std::make_unique<Program>(std::move(command), dir_.path(), std::move(environment));
}

Program& ReplicasTest::Replica(const std::string& role, int index) {
  if (role == "chief") return *chief_;
  if (role == "evaluator") return *evaluator_;
  return *(role == "ps" ? ps_ : workers_).at(static_cast<std::size_t>(index));
}

std::string ReplicasTest::AddressOf(const std::string& role, int index) const {
  return "127.0.0.1:" + std::to_string(ports_->ports()[PlaceOf(role, index)]);
}

std::vector<std::string> ReplicasTest::Before(const std::string& /*role*/, int /*index*/) const {
  return {};
}

std::string ReplicasTest::Addresses(const std::string& role, int count) const {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? ", \"" : "\"") + AddressOf(role, i) + '"';
  return list;
}

void ReplicasTest::Scale(int ps) const {
  ASSERT_TRUE(WriteFileAtomically(dir_.File("ps-replicas"), std::to_string(ps)).ok());
}

void ReplicasTest::ExpectExact() {
  EXPECT_EQ(chief_->Wait(kLimit), 0) << Logs();
  EXPECT_EQ(ps_[0]->Wait(kLimit), 0) << ps_[0]->Stderr();
  for (const auto& worker : workers_) EXPECT_EQ(worker->Wait(kLimit), 0) << worker->Stderr();
  if (evaluator_) {
    EXPECT_EQ(evaluator_->Wait(kLimit), 0) << evaluator_->Stderr();
  }
  ExpectExactResult();
}

void ReplicasTest::ExpectExactResult() const {
  const Result<std::string> text = ReadFile(JoinPath(RunDirectory(run_), "result.json"));
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  const Result<Json> result = ParseJson(*text);
  ASSERT_TRUE(result.ok()) << *text;
  for (const char* count :
       {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
    EXPECT_EQ(Number(*result, count), examples()) << count;
  }
  ExpectClosedForm(run_);
}

bool ReplicasTest::MovedTo(int ps) const {
  const std::string log = chief_->Stderr();
  const std::string begin = "shards assigned ps=" + std::to_string(ps) + " ";
  for (std::size_t at = log.find(begin); at != std::string::npos; at = log.find(begin, at + 1)) {
    const std::string line = log.substr(at, log.find('\n', at) - at);
    if (line.find(" moved=0 ") == std::string::npos && line.ends_with("outcome=OK")) return true;
  }
  return false;
}

std::int64_t ReplicasTest::Saved() const {
  const Result<std::string> newest = NewestCheckpoint(run_);
  if (!newest.ok()) return 0;
  const Result<CheckpointReader> checkpoint = CheckpointReader::Open(*newest);
  return checkpoint.ok() ? checkpoint->manifest().examples_committed() : 0;
}

std::string ReplicasTest::Logs() const {
  std::string logs = chief_->Stderr();
  for (const auto& ps : ps_) logs += ps->Stderr();
  for (const auto& worker : workers_) logs += worker->Stderr();
  if (evaluator_) logs += evaluator_->Stderr();
  return logs;
}

}  // namespace pstrain
