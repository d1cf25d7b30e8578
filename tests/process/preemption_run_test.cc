// What TensorFlow's fault_tolerance_test says of workers that are lost, with real processes:
// numbers 109, 136 to 138, 143, 145, 146 and 148 of docs/tensorflow-map.md. What happens is in
// preempted_program.cc.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

class PreemptionRunTest : public SmallJob {
 protected:
  void SetUp() override {}

  /// Runs the scenarios one after the other; each has to say that it is right.
  void ExpectRight(const std::vector<std::string>& scenarios) {
    std::string command =
        "command: ['" PSTRAIN_BIN_DIR "/preempted_program', '" + dir_.path() + "'";
    for (const std::string& scenario : scenarios) command += ", " + scenario;
    const std::string container =
        "template: {spec: {containers: [{name: training, " + command + "]}]}}";
    Write("job.yaml",
          "apiVersion: pstrain.dev/v1alpha1\n"
          "kind: PSTrainingJob\n"
          "metadata: {name: preempted}\n"
          "spec:\n"
          "  strategy: {shards: 5}\n"
          "  replicaSpecs:\n"
          "    chief: {" +
              container + "}\n    ps: {replicas: 2, " + container +
              "}\n    worker: {replicas: 2, " + container +
              "}\n"
              "  runPolicy: {backoffLimit: 100}\n"
              "  program: {checkpoint: {directory: checkpoints}}\n");
    const ProgramEnd end = Run();
    EXPECT_EQ(end.code, 0) << end.err << LogOfChief();
    EXPECT_EQ(end.Text("state"), "Succeeded") << end.out;
    std::string log = LogOfChief();
    for (const std::string& scenario : scenarios) {
      const std::string says = scenario + " right\n";
      const std::size_t at = log.find(says);
      ASSERT_NE(at, std::string::npos) << scenario << "\n" << LogOfChief();
      log.erase(0, at + says.size());
    }
  }
  std::string LogOfChief() {
    const auto log = ReadFile(dir_.File(".pstrain/preempted/logs/chief-0-0.log"));
    return log.ok() ? *log : log.status().ToString();
  }
};

TEST_F(PreemptionRunTest, WhenAWorkerBeginsLate_OthersDoNotWaitForIt) {
  Write("hold-1", "");
  ExpectRight({"staggered"});
}

TEST_F(PreemptionRunTest, WhenAFunctionFailsAndAWorkerIsLost_TheErrorIsSaidAndAllGoesOn) {
  ExpectRight({"cancellation"});
}

TEST_F(PreemptionRunTest, WhenNoWorkerIsThere_DatasetsAndIteratorsAreMade) {
  ExpectRight({"datasets"});
}

TEST_F(PreemptionRunTest, WhenTheNextWorkerIsLostToo_EachCallCountsOnce) { ExpectRight({"twice"}); }

TEST_F(PreemptionRunTest, WhenNoWorkerIsThere_ResultsAreFetched) { ExpectRight({"fetched"}); }

// Each worker that is lost waits longer for its next attempt.
TEST_F(PreemptionRunTest, WhenItHappensAgainInOneProgram_IsRight) {
  ExpectRight({"cancellation", "datasets", "cancellation", "fetched"});
}

}  // namespace
}  // namespace pstrain
