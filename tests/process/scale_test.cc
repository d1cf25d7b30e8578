// Another number of ps while the job trains, as real processes. The runtime runs without pstrain
// run and the operator: the test starts ps, tells them to stop, and writes the file that the chief
// reads.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "local/replicas/ports.h"
#include "proto/contract/exit_codes.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "tests/process/exact_fixture.h"

namespace pstrain {
namespace {

constexpr std::chrono::seconds kLimit{120};
constexpr int kExamples = 20'000 * 3;

class ScaleTest : public ExactRunTest {
 protected:
  void SetUp() override {
    ExactRunTest::SetUp();
    Result<local::ClaimedPorts> ports = local::ClaimedPorts::Claim(kTasks.size(), RandomSeed());
    ASSERT_TRUE(ports.ok()) << ports.status().ToString();
    ports_.emplace(std::move(ports).value());
    ASSERT_TRUE(CreateDirectories(RunDirectory(run_)).ok());
    // Little is granted beyond these percentages while the files are there.
    for (const char* barrier : {"barrier-20", "barrier-60"}) {
      ASSERT_TRUE(WriteFileAtomically(JoinPath(RunDirectory(run_), barrier), "").ok());
    }
    chief_ = Start("chief", 0, 2);
    for (const int index : {0, 1}) {
      ps_.push_back(Start("ps", index, 2));
      workers_.push_back(Start("worker", index, 2));
    }
    ASSERT_TRUE(Eventually([this] { return Saved() > 0; }, kLimit)) << chief_->Stderr();
  }

  /// A process of the runtime whose TF_CONFIG has `ps` ps.
  std::unique_ptr<Program> Start(const std::string& role, int index, int ps) const {
    const std::string task =
        R"(, "task": {"type": ")" + role + R"(", "index": )" + std::to_string(index) + "}}";
    return std::make_unique<Program>(
        std::vector<std::string>{PSTRAIN_BIN_DIR "/pstrain-runtime"}, dir_.path(),
        std::vector<std::string>{
            "TF_CONFIG={\"cluster\": {\"chief\": [" + Addresses(0, 1) + "], \"worker\": [" +
                Addresses(1, 2) + "], \"ps\": [" + Addresses(3, ps) + "]}" + task,
            "PSTRAIN_JOB_NAME=exact", "PSTRAIN_REPLICA_TYPE=" + role,
            "PSTRAIN_REPLICA_INDEX=" + std::to_string(index), "PSTRAIN_RUN_ID=run",
            "PSTRAIN_JOB_FILE=job.yaml", "PSTRAIN_SCRATCH_DIR=" + dir_.path(),
            "PSTRAIN_ALLOW_TEST_ONLY=1", "PSTRAIN_PS_REPLICAS_FILE=" + dir_.File("ps-replicas")});
  }

  void Scale(int ps) {
    ASSERT_TRUE(WriteFileAtomically(dir_.File("ps-replicas"), std::to_string(ps)).ok());
  }
  void Continue(const char* barrier) const {
    ASSERT_TRUE(RemoveFile(JoinPath(RunDirectory(run_), barrier)).ok());
  }
  /// ps 2 comes, and the job trains on with it beyond 40 %.
  void ScaleToThree() {
    Scale(3);
    ps_.push_back(Start("ps", 2, 3));
    ASSERT_TRUE(Eventually([this] { return MovedTo(2); }, kLimit)) << Logs();
    Continue("barrier-20");
    ASSERT_TRUE(Eventually([this] { return Saved() > kExamples * 4 / 10; }, kLimit)) << Logs();
  }
  /// The job ends well, with every example once.
  void ExpectExact() {
    Continue("barrier-60");
    EXPECT_EQ(chief_->Wait(kLimit), 0) << Logs();
    EXPECT_EQ(ps_[0]->Wait(kLimit), 0);
    for (const auto& worker : workers_) EXPECT_EQ(worker->Wait(kLimit), 0) << worker->Stderr();
    const Result<std::string> text = ReadFile(JoinPath(RunDirectory(run_), "result.json"));
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    const Result<Json> result = ParseJson(*text);
    ASSERT_TRUE(result.ok()) << *text;
    for (const char* count :
         {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
      EXPECT_EQ(Number(*result, count), kExamples) << count;
    }
    ExpectClosedForm(run_);
  }

  /// Shards have moved to a ps.
  bool MovedTo(int ps) const {
    const std::string log = chief_->Stderr();
    const std::string begin = "shards assigned ps=" + std::to_string(ps) + " ";
    for (std::size_t at = log.find(begin); at != std::string::npos; at = log.find(begin, at + 1)) {
      const std::string line = log.substr(at, log.find('\n', at) - at);
      if (line.find(" moved=0 ") == std::string::npos && line.ends_with("outcome=OK")) return true;
    }
    return false;
  }
  /// Examples in the newest checkpoint.
  std::int64_t Saved() const {
    const Result<std::string> newest = NewestCheckpoint(run_);
    if (!newest.ok()) return 0;
    const Result<CheckpointReader> checkpoint = CheckpointReader::Open(*newest);
    return checkpoint.ok() ? checkpoint->manifest().examples_committed() : 0;
  }
  std::string Logs() const {
    std::string logs = chief_->Stderr();
    for (const auto& ps : ps_) logs += ps->Stderr();
    return logs;
  }

  const Ended run_{-1, *ParseJson(R"({"run_id": "run"})"), "", ""};
  std::unique_ptr<Program> chief_;
  std::vector<std::unique_ptr<Program>> ps_;
  std::vector<std::unique_ptr<Program>> workers_;

 private:
  static constexpr std::array kTasks = {"chief", "worker 0", "worker 1", "ps 0", "ps 1", "ps 2"};

  std::string Addresses(std::size_t first, int count) const {
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += (i > 0 ? ", " : "") + std::string("\"127.0.0.1:") +
              std::to_string(ports_->ports()[first + static_cast<std::size_t>(i)]) + '"';
    }
    return list;
  }

  std::optional<local::ClaimedPorts> ports_;
};

TEST_F(ScaleTest, Ps_TwoThenThreeThenOne_EveryExampleIsAppliedOnce) {
  ScaleToThree();
  Scale(1);
  // Both are emptied, and end when they are told to.
  ASSERT_TRUE(Eventually([this] { return MovedTo(0); }, kLimit)) << Logs();
  for (const std::size_t index : {1u, 2u}) ps_[index]->Signal(SIGTERM);
  for (const std::size_t index : {1u, 2u}) {
    EXPECT_EQ(ps_[index]->Wait(kLimit), kExitDrained) << ps_[index]->Stderr();
  }
  ExpectExact();
  EXPECT_EQ(chief_->Stderr().find("a ps is silent"), std::string::npos);
}

TEST_F(ScaleTest, Ps_WhenTheSurplusOnesAreKilledInstead_TheirShardsAreRestoredOnTheRemainingOne) {
  ScaleToThree();
  for (const std::size_t index : {1u, 2u}) {
    ps_[index]->Signal(SIGKILL);
    EXPECT_EQ(ps_[index]->Wait(kLimit), 128 + SIGKILL);
  }
  Scale(1);
  ExpectExact();
}

}  // namespace
}  // namespace pstrain
