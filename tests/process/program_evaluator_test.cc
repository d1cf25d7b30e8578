// The evaluator of a user's own program: a fourth process of the one binary, which reads what the
// others have saved, and SIGKILL to it and to them.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr int kCallsPerEpoch = 254 + 128;
constexpr const char* kTestData = "/data/adult.test.gz";

/// examples/custom_training as a person runs it, for two epochs.
class ProgramEvaluatorTest : public SmallJob {
 protected:
  void SetUp() override {
    const Result<std::string> text =
        ReadFile(PSTRAIN_SOURCE_DIR "/examples/custom_training/job.yaml");
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    std::string job = *text;
    const std::string last = std::string(kTestData) + "]";
    for (std::size_t at = job.find(last); at != std::string::npos; at = job.find(last, at + 1)) {
      job.replace(at, last.size(), std::string(kTestData) + ", '2']");
    }
    Write("job.yaml", job);
  }
  ProgramEnd RunExample(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"run", "job.yaml", "--json", "--volume",
                                          "data=" PSTRAIN_SOURCE_DIR "/examples/adult/data"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Start("pstrain", arguments, {"PATH=" PSTRAIN_BIN_DIR ":/usr/bin:/bin"});
  }
  /// All calls are on every shard, and the result has what the evaluator found last.
  static void ExpectEvaluated(const ProgramEnd& end) {
    EXPECT_EQ(end.code, 0) << end.err;
    for (const char* key : {"examples_committed", "applied_min", "applied_max"}) {
      EXPECT_EQ(end.Number(key), 2 * kCallsPerEpoch) << key << "\n" << end.out;
    }
    EXPECT_GT(end.Number("accuracy"), 0.82) << end.out;
    EXPECT_LT(end.Number("accuracy"), 1) << end.out;
    EXPECT_GT(end.Number("log_loss"), 0.2) << end.out;
    EXPECT_LT(end.Number("log_loss"), 0.5) << end.out;
    EXPECT_THAT(end.out, HasSubstr(R"("metrics":{"accuracy":)"));
  }
  std::string LogOfTheEvaluator(int attempt) {
    const Result<std::string> log = ReadFile(
        dir_.File(".pstrain/custom-training/logs/evaluator-0-" + std::to_string(attempt) + ".log"));
    return log.ok() ? *log : log.status().ToString();
  }
};

TEST_F(ProgramEvaluatorTest, WhenUndisturbed_TheLastCheckpointIsEvaluated) {
  ExpectEvaluated(RunExample());
  EXPECT_THAT(LogOfTheEvaluator(0), HasSubstr("final=true"));
}

TEST_F(ProgramEvaluatorTest, WhenItIsKilled_TheJobGoesOnAndTheNextOneEvaluates) {
  ExpectEvaluated(RunExample({"--chaos", "evaluator@200"}));
  EXPECT_THAT(LogOfTheEvaluator(1), HasSubstr("final=true"));
}

TEST_F(ProgramEvaluatorTest, WhenTheChiefIsKilled_ItGoesOnWithTheNextOne) {
  ExpectEvaluated(RunExample({"--chaos", "chief@500"}));
  EXPECT_THAT(LogOfTheEvaluator(0), HasSubstr("final=true"));
}

TEST_F(ProgramEvaluatorTest, WhenAllRolesAreKilled_TheLastCheckpointIsEvaluated) {
  ExpectEvaluated(RunExample({"--chaos", "worker@100,ps@200,evaluator@300,chief@500,ps:1@600"}));
}

}  // namespace
}  // namespace pstrain
