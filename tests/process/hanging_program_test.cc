// `pstrain run` of a program whose function hangs, or whose workers are stopped within one.
#include <gmock/gmock.h>

#include <string>

#include "base/os/files.h"
#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// Jobs whose program is hanging_program.cc.
class HangingProgramTest : public SmallJob {
 protected:
  static constexpr int kCalls = 300;

  void SetUp() override {}

  ProgramEnd RunHanging(int workers, int hang, int stop) {
    const std::string container = std::string("{spec: {containers: [{name: training, command: [") +
                                  PSTRAIN_BIN_DIR + "/hanging_program, '" + std::to_string(kCalls) +
                                  "', '" + std::to_string(hang) + "', '" + std::to_string(stop) +
                                  "', '" + dir_.path() + "']}]}}";
    Write("job.yaml",
          "apiVersion: pstrain.dev/v1alpha1\n"
          "kind: PSTrainingJob\n"
          "metadata: {name: hanging}\n"
          "spec:\n"
          "  strategy: {shards: 5}\n"
          "  replicaSpecs:\n"
          "    chief: {template: " +
              container +
              "}\n"
              "    ps: {replicas: 2, template: " +
              container +
              "}\n"
              "    worker: {replicas: " +
              std::to_string(workers) + ", template: " + container +
              "}\n"
              "  runPolicy: {backoffLimit: 0}\n"
              "  program: {checkpoint: {directory: checkpoints}}\n");
    return Start("pstrain", {"run", "job.yaml", "--json", "--allow-test-only"});
  }
  /// Of an attempt of a replica; empty: there was none.
  std::string LogOf(const std::string& replica) {
    const Result<std::string> text =
        ReadFile(dir_.File(".pstrain/hanging/logs/" + replica + ".log"));
    return text.ok() ? *text : "";
  }
  void ExpectRight(const ProgramEnd& end) {
    EXPECT_EQ(end.code, 0) << end.err << LogOf("chief-0-0");
    EXPECT_THAT(LogOf("chief-0-0"), HasSubstr("right\n"));
    EXPECT_EQ(end.Number("applied_min"), kCalls + 1);
    EXPECT_EQ(end.Number("applied_max"), kCalls + 1);
  }
};

// Two at a time hang; backoffLimit 0: an exit with another code than 86 would fail the job.
TEST_F(HangingProgramTest, WhenAllThreadsOfAWorkerHang_ItIsStartedAgainAndEachCallCountsOnce) {
  ExpectRight(RunHanging(1, 2, 0));
  EXPECT_THAT(LogOf("worker-0-0"), HasSubstr("all threads of this worker hang"));
  EXPECT_THAT(LogOf("worker-0-0"), HasSubstr("function=Add "));
  EXPECT_NE(LogOf("worker-0-1"), "") << "it was not started again";
}

TEST_F(HangingProgramTest, WhenOneThreadHangs_ItsWorkerGoesOn) {
  ExpectRight(RunHanging(1, 1, 0));
  EXPECT_THAT(LogOf("worker-0-0"), HasSubstr("a function hangs"));
  EXPECT_EQ(LogOf("worker-0-1"), "");
}

TEST_F(HangingProgramTest, WhenAWorkerIsStoppedWithinACall_EachCallCountsOnce) {
  ExpectRight(RunHanging(2, 0, 1));
  EXPECT_TRUE(ReadFile(dir_.File("stops0")).ok());
}

}  // namespace
}  // namespace pstrain
