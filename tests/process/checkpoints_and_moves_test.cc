// Incremental checkpoints and moves of shards, as real processes: the weights are those of the
// closed form whatever the checkpoints hold and wherever the shards were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "tests/process/exact_fixture.h"

namespace pstrain {
namespace {

class CheckpointsAndMovesTest : public ExactRunTest {
 protected:
  /// Runs to the end and checks counts and weights.
  Ended RunWell(const std::vector<std::string>& more, std::vector<std::string> environment = {}) {
    Ended ended = RunExact(more, std::move(environment));
    ExpectAllAppliedOnce(ended);
    ExpectClosedForm(ended);
    return ended;
  }

  /// The base of each checkpoint that is left of the run, oldest first; empty for a whole one.
  std::vector<std::string> Bases(const Ended& ended) const {
    std::vector<std::string> bases;
    const auto checkpoints = ListCheckpoints(RunDirectory(ended));
    EXPECT_TRUE(checkpoints.ok());
    if (!checkpoints.ok()) return bases;
    for (const CheckpointId& id : *checkpoints) {
      const auto checkpoint = CheckpointReader::Open(CheckpointDirectory(RunDirectory(ended), id));
      EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
      if (checkpoint.ok()) bases.push_back(checkpoint->manifest().base());
    }
    return bases;
  }
};

TEST_F(CheckpointsAndMovesTest, Weights_WithIncrementalCheckpoints_AreThoseOfTheClosedForm) {
  overrides_ = {"spec.training.model.constantGradient.tableRows=20000",
                "spec.training.checkpoint.everySteps=100"};
  const auto whole = [](const std::string& base) { return base.empty(); };
  for (const std::string& base :
       Bases(RunWell({"--set", "spec.training.checkpoint.fullEvery=1"}))) {
    EXPECT_TRUE(whole(base)) << base;
  }
  // Without kills an increment follows each full checkpoint, and two checkpoints before the final
  // one are kept.
  const std::vector<std::string> bases = Bases(RunWell({}));
  EXPECT_FALSE(std::all_of(bases.begin(), bases.end(), whole));
  ASSERT_FALSE(bases.empty());
  EXPECT_TRUE(whole(bases.back())) << "the final checkpoint stands alone";
  RunWell({"--chaos", "ps@35,ps:1@65"});
}

TEST_F(CheckpointsAndMovesTest,
       Weights_WhenResumedFromAnIncrementalCheckpoint_AreThoseOfTheClosedForm) {
  overrides_ = {"spec.training.model.constantGradient.tableRows=20000",
                "spec.training.checkpoint.everySteps=100"};
  const Ended stopped = RunExact({"--stop-at", "50"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  RunWell({"--resume", "--set", "spec.replicaSpecs.ps.replicas=3"});
}

TEST_F(CheckpointsAndMovesTest, Weights_WhenAPsIsToldToStop_AreTheSameAndNoCheckpointIsNeeded) {
  // The attempt lived under 10 s: the next one waits for 1 s, in which the job must not end.
  overrides_ = {"spec.training.checkpoint.everySteps=0", "spec.training.checkpoint.everySeconds=0",
                "spec.training.epochs=20"};
  const Ended ended = RunWell({"--chaos", "ps:1@10:term"});
  EXPECT_EQ(Number(ended.report, "checkpoints"), 1) << "only the final one";
  // The next attempt has got shards back and has applied to them.
  ExpectKills(ended, 1);
  EXPECT_GT(Number(ended.report.Find("ps")->items()[1], "shards"), 0);
  EXPECT_GT(Number(ended.report.Find("ps")->items()[1], "bytes_received"), 0);
  std::cout << WriteJson(*ended.report.Find("kills")) << '\n';
}

// What workers push and pull, and the shards that move to another ps, go to the ps' own address.
TEST_F(CheckpointsAndMovesTest, Weights_WhenTheDataPlaneHasItsOwnAddress_AreTheSame) {
  overrides_ = {"spec.training.epochs=20"};
  const Ended ended =
      RunWell({"--chaos", "ps:1@10:term"}, {"PSTRAIN_DATA_ADDRESS=grpc://127.0.0.1:0"});
  ExpectKills(ended, 1);
  EXPECT_GT(Number(ended.report.Find("ps")->items()[1], "bytes_received"), 0);
  const Result<std::string> log = ReadFile(dir_.File(".pstrain/exact/logs/ps-1-1.log"));
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  EXPECT_THAT(*log, testing::HasSubstr("the data plane has an address of its own"));
}

}  // namespace
}  // namespace pstrain
