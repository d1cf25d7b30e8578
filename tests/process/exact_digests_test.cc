// The digests of runs whose final weights follow from their job alone, as they were when
// tests/golden/exact_run_digests.txt was written: a change that is to leave training as it is, bit
// for bit, leaves them as they are, whatever it does to catalogs, messages and checkpoints.
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "tests/process/exact_fixture.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

/// By variable.
using Digests = std::map<std::string, std::string>;

/// Lines "NAME VARIABLE DIGEST".
Digests Golden(const std::string& name) {
  const Result<std::string> text =
      ReadFile(PSTRAIN_SOURCE_DIR "/tests/golden/exact_run_digests.txt");
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  Digests digests;
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string variable;
    if (words >> first >> variable && first == name) words >> digests[variable];
  }
  return digests;
}

/// A job, by what it changes in that of the fixture.
struct ExactJob {
  /// In the golden file.
  const char* name;
  std::vector<std::string> overrides = {};
  std::vector<std::string> more = {};
};
void PrintTo(const ExactJob& job, std::ostream* out) { *out << job.name; }

class ExactDigestsTest : public ExactRunTest, public testing::WithParamInterface<ExactJob> {
 protected:
  static constexpr int kFewRecords = 2000;

  /// What `pstrain inspect --digest` says.
  Digests Inspected(const std::string& checkpoint) const {
    Program inspect({PSTRAIN_BIN_DIR "/pstrain", "inspect", "--digest", checkpoint}, dir_.path());
    EXPECT_EQ(inspect.Wait(), 0) << inspect.Stderr();
    Digests digests;
    std::istringstream lines(inspect.Stdout());
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string first;
      std::string variable;
      if (words >> first >> variable && first == "digest") words >> digests[variable];
    }
    return digests;
  }
};

TEST_P(ExactDigestsTest, OfTheFinalCheckpoint_AreThoseOfBefore) {
  WriteData(kFewRecords);
  overrides_ = GetParam().overrides;
  const Ended ended = RunExact(GetParam().more);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
  const Result<std::string> checkpoint = NewestCheckpoint(ended);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
  const Digests golden = Golden(GetParam().name);
  EXPECT_EQ(golden.size(), 2U) << "dense variable and table";
  EXPECT_EQ(Inspected(*checkpoint), golden);
}

// Where shards lie, who computes what and who dies changes nothing; what is trained does.
const ExactJob kJobs[] = {
    {"plain"},
    {"plain",
     {"spec.replicaSpecs.ps.replicas=3", "spec.replicaSpecs.worker.replicas=1",
      "spec.strategy.shards=5"}},
    {"plain", {"spec.training.checkpoint.everySteps=20"}, {"--chaos", "ps:1@40,worker@60"}},
    {"large_table",
     {"spec.training.model.constantGradient.tableRows=20000",
      "spec.training.checkpoint.everySteps=50"}},
    {"other_numbers",
     {"spec.training.model.constantGradient.denseSize=1000",
      "spec.training.model.constantGradient.tableDimension=3", "spec.training.batchSize=7",
      "spec.training.optimizer.sgd.learningRate=0.25"}},
};

INSTANTIATE_TEST_SUITE_P(EachJob, ExactDigestsTest, testing::ValuesIn(kJobs));

}  // namespace
}  // namespace pstrain
