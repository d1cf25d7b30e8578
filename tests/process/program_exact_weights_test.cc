// With one worker, one call at a time, atomic functions without a plan, and onPsLost
// RestartFromMark, the weights of a program (exact_program.cc) are those of an undisturbed run, bit
// for bit, whatever is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "tests/process/program_replicas.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kCalls = 60;
constexpr const char* kBetweenPs = "worker-between-ps:0:0:";

/// As bits: equality of floats is not that of their bits.
using Bits = std::vector<std::uint32_t>;

class ExactWeightsTest : public ProgramReplicas {
 protected:
  void SetUp() override {
    Prepare({.command = {PSTRAIN_BIN_DIR "/exact_program"},
             .workers = 1,
             .closures_per_worker = 1,
             .program = ", onPsLost: RestartFromMark"});
  }

  /// The final values of all variables.
  Bits Weights() const {
    const Result<std::vector<CheckpointId>> checkpoints = ListCheckpoints(RunDirectory());
    if (!checkpoints.ok() || checkpoints->empty()) return {};
    Result<CheckpointReader> checkpoint =
        CheckpointReader::Open(CheckpointDirectory(RunDirectory(), checkpoints->back()));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
    if (!checkpoint.ok()) return {};
    EXPECT_TRUE(checkpoint->manifest().final());
    EXPECT_EQ(checkpoint->manifest().examples_committed(), kCalls);
    std::vector<std::uint64_t> rows(50);
    std::iota(rows.begin(), rows.end(), 0);
    Bits bits;
    for (const Result<std::vector<float>>& values :
         {checkpoint->Dense("weights"), checkpoint->Dense("bias"),
          checkpoint->Rows("table", rows)}) {
      EXPECT_TRUE(values.ok()) << values.status().ToString();
      for (const float value : *values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    }
    return bits;
  }

  /// Those of a run that nobody has disturbed: made once, by the first test.
  void ExpectExact() {
    static Bits undisturbed;
    const Bits weights = Weights();
    ASSERT_EQ(weights.size(), 24U + 1 + 100);
    if (undisturbed.empty()) undisturbed = Undisturbed();
    EXPECT_EQ(weights, undisturbed) << Logs();
  }

  /// At that moment of `main` or of the call, by name.
  void KillAt(const std::string& moment, const std::string& who, const std::vector<Task>& tasks) {
    Gate gate(dir_.path(), moment);
    StartAll();
    ASSERT_TRUE(RunUntil([&] { return !gate.Arrived(who).empty(); }));
    for (const Task& task : tasks) Kill(task);
    gate.Open();
    ASSERT_TRUE(RunToTheEnd());
    ExpectExact();
  }

 private:
  static Bits Undisturbed();
};

class UndisturbedRun : public ExactWeightsTest {
 public:
  Bits Run() {
    SetUp();
    StartAll();
    EXPECT_TRUE(RunToTheEnd());
    return Weights();
  }

 private:
  void TestBody() override {}
};

Bits ExactWeightsTest::Undisturbed() { return UndisturbedRun().Run(); }

const ProgramReplicas::Task kChief{"chief", 0};
const ProgramReplicas::Task kWorker{"worker", 0};
const ProgramReplicas::Task kPs{"ps", 1};

TEST_F(ExactWeightsTest, WhenRunTwice_WeightsAreTheSame) {
  StartAll();
  ASSERT_TRUE(RunToTheEnd());
  ExpectExact();
}

TEST_F(ExactWeightsTest, WhenTheWorkerIsKilledAtRest_WeightsAreTheSame) {
  KillAt("rest 18", "main", {kWorker});
}

// It has read, and nothing of it has left.
TEST_F(ExactWeightsTest, WhenTheWorkerIsKilledInACall_WeightsAreTheSame) {
  KillAt("in 33", "call", {kWorker});
}

TEST_F(ExactWeightsTest, WhenTheChiefIsKilledAtRest_WeightsAreTheSame) {
  KillAt("rest 30", "main", {kChief});
  EXPECT_THAT(LogsOf(kChief), HasSubstr("begins at 24"));
}

// What has been applied behind the mark goes with it.
TEST_F(ExactWeightsTest, WhenTheChiefIsKilledWhileCallsRun_WeightsAreTheSame) {
  KillAt("behind 40", "main", {kChief});
  EXPECT_THAT(LogsOf(kChief), HasSubstr("begins at 36"));
}

TEST_F(ExactWeightsTest, WhenTheChiefAndTheWorkerAreKilled_WeightsAreTheSame) {
  KillAt("in 45", "call", {kWorker, kChief});
}

TEST_F(ExactWeightsTest, WhenAPsIsKilledAtRest_WeightsAreTheSame) {
  KillAt("rest 30", "main", {kPs});
  EXPECT_THAT(LogsOf(kChief), HasSubstr("begins at 24"));
}

TEST_F(ExactWeightsTest, WhenAPsIsKilledInACall_WeightsAreTheSame) {
  KillAt("in 33", "call", {kPs});
  EXPECT_THAT(LogsOf(kChief), HasSubstr("begins at 24"));
}

TEST_F(ExactWeightsTest, WhenAPsAndTheWorkerAreKilled_WeightsAreTheSame) {
  KillAt("in 20", "call", {kPs, kWorker});
}

TEST_F(ExactWeightsTest, WhenAPsIsKilledBeforeTheFirstMark_WeightsAreTheSame) {
  KillAt("rest 6", "main", {kPs});
  EXPECT_THAT(LogsOf(kChief), HasSubstr("begins at 0"));
}

/// The worker dies between two ps of a push: one of them has the call, the other one has not.
class TornCallTest : public ExactWeightsTest, public testing::WithParamInterface<int> {};

TEST_P(TornCallTest, OfAnAtomicFunction_IsFinishedAsItWasBegun) {
  environment_ = {"PSTRAIN_FAIL_POINTS=" + (kBetweenPs + std::to_string(GetParam()))};
  StartAll();
  ASSERT_TRUE(RunToTheEnd());
  EXPECT_TRUE(
      FileExists(JoinPath(RunDirectory(), "fired-" + (kBetweenPs + std::to_string(GetParam())))));
  ExpectExact();
}

INSTANTIATE_TEST_SUITE_P(AtPush, TornCallTest, testing::Values(1, 2, 17, 40));

// A ps that has applied what it was sent dies before it says so.
TEST_F(ExactWeightsTest, WhenAPsDiesBetweenApplyAndReply_WeightsAreTheSame) {
  environment_ = {"PSTRAIN_FAIL_POINTS=ps-before-reply:1:0:20"};
  StartAll();
  ASSERT_TRUE(RunToTheEnd());
  ExpectExact();
}

}  // namespace
}  // namespace pstrain
