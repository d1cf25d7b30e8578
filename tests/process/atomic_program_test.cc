// `pstrain run` of a program whose calls are atomic, and workers and ps that die.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/os/files.h"
#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// Jobs whose program is atomic_program.cc.
class AtomicProgramTest : public SmallJob {
 protected:
  static constexpr int kCalls = 400;

  void SetUp() override {}

  /// `environment`: of all replicas.
  void WriteAtomic(const std::string& environment = "") {
    const std::string container = std::string("{spec: {containers: [{name: training, command: [") +
                                  PSTRAIN_BIN_DIR + "/atomic_program, '" + std::to_string(kCalls) +
                                  "', '4'], env: [" + environment + "]}]}}";
    Write("job.yaml",
          "apiVersion: pstrain.dev/v1alpha1\n"
          "kind: PSTrainingJob\n"
          "metadata: {name: atomic}\n"
          "spec:\n"
          "  strategy: {shards: 5}\n"
          "  replicaSpecs:\n"
          "    chief: {template: " +
              container +
              "}\n"
              "    ps: {replicas: 2, template: " +
              container +
              "}\n"
              "    worker: {replicas: 2, template: " +
              container +
              "}\n"
              "  runPolicy: {backoffLimit: 6}\n"
              "  program: {checkpoint: {directory: checkpoints, everySeconds: 1}}\n");
  }
  ProgramEnd RunWithFailPoints(const std::string& points) {
    return Start("pstrain", {"run", "job.yaml", "--json", "--allow-test-only"},
                 {"PSTRAIN_FAIL_POINTS=" + points});
  }
  /// Of the first attempt of a replica; empty: there was none.
  std::string LogOf(const std::string& replica) {
    const Result<std::string> text =
        ReadFile(dir_.File(".pstrain/atomic/logs/" + replica + ".log"));
    return text.ok() ? *text : "";
  }
  void ExpectRight(const ProgramEnd& end) {
    EXPECT_EQ(end.code, 0) << end.err << LogOf("chief-0-0");
    EXPECT_THAT(LogOf("chief-0-0"), HasSubstr("right\n"));
    EXPECT_EQ(end.Number("applied_min"), kCalls + 1);
    EXPECT_EQ(end.Number("applied_max"), kCalls + 1);
  }
};

class KilledAtomicProgramTest : public AtomicProgramTest,
                                public testing::WithParamInterface<const char*> {};

TEST_P(KilledAtomicProgramTest, WhenAWorkerDiesBetweenTwoPs_AllHaveWhatOneAttemptDrew) {
  WriteAtomic();
  ExpectRight(RunWithFailPoints(GetParam()));
  EXPECT_NE(LogOf("worker-0-1"), "") << "it has not died";
}

INSTANTIATE_TEST_SUITE_P(At, KilledAtomicProgramTest,
                         testing::Values("worker-between-ps:0:0:1", "worker-between-ps:0:0:20",
                                         "worker-between-ps:0:0:7,worker-between-ps:1:0:11",
                                         "worker-between-ps:0:0:7,ps-before-reply:1:0:30"));

// Shards that were restored get again what the others have.
TEST_F(AtomicProgramTest, WhenAPsIsKilled_AllHaveWhatOneAttemptDrew) {
  WriteAtomic();
  ExpectRight(Run({"--chaos", "ps@150,worker:1@250,ps:1@320"}));
  for (const char* replica : {"ps-0-1", "worker-1-1", "ps-1-1"}) {
    EXPECT_NE(LogOf(replica), "") << replica << " was not killed";
  }
}

// What the option is for.
TEST_F(AtomicProgramTest, WhenTheFunctionIsNotAtomic_ShardsDiffer) {
  WriteAtomic("{name: PSTRAIN_TEST_ATOMIC, value: '0'}");
  RunWithFailPoints("worker-between-ps:0:0:20");
  EXPECT_THAT(LogOf("chief-0-0"), HasSubstr("torn: "));
}

}  // namespace
}  // namespace pstrain
