// Manifests and input files that are wrong, as `pstrain run` meets them.
#include <gmock/gmock.h>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string kManifests = PSTRAIN_SOURCE_DIR "/tests/golden/manifests/";
constexpr const char* kWayOut =
    "; correct the record, or leave such records out with csv.badRecords: Skip";
/// The first failure is the last all the same.
constexpr const char* kAttempts = "spec.runPolicy.backoffLimit=6";
constexpr const char* kInputFile = "spec.training.input.csv.files[0]=";

class BadData : public SmallJob {
 protected:
  void ExpectRefusedRecord(const std::string& line, const std::string& what) {
    WriteDataWithLine(700, line);
    const ProgramEnd end = Run();
    EXPECT_EQ(end.code, 1) << end.out;
    const std::string error = "InvalidInput: worker-0: data.csv:700: " + what + kWayOut;
    EXPECT_THAT(end.err, EndsWith("job failed: " + error + "\n"));
    EXPECT_THAT(end.err, Not(HasSubstr("to continue: ")));
    EXPECT_EQ(end.Text("error"), error);
    EXPECT_EQ(end.Text("state"), "Failed");
  }
};

TEST_F(BadData, Manifest_WhenBad_IsRefusedByEveryProgramWithTheSameLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"bad-unknown-field.yaml",
       ":7: spec.replicaSpecs.ps.replica: unknown field; did you mean \"replicas\"?\n"},
      {"bad-wrong-type-quoted-number.yaml",
       ":7: spec.replicaSpecs.ps.replicas: must be an integer; found \"7\"\n"},
      {"bad-rule-training-needs-ps.yaml",
       ":7: spec.replicaSpecs.ps.replicas: must be at least 1\n"}};
  for (const auto& [name, message] : cases) {
    const std::string file = kManifests + name;
    const ProgramEnd validated = Start("pstrain", {"validate", file});
    EXPECT_EQ(validated.code, 1);
    EXPECT_EQ(validated.err, file + message);
    const ProgramEnd run = Start("pstrain", {"run", file});
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.err, file + message);
    EXPECT_FALSE(FileExists(dir_.File(".pstrain")));
    const ProgramEnd started =
        Start("pstrain-runtime", {},
              {"PSTRAIN_JOB_NAME=tiny", "PSTRAIN_REPLICA_TYPE=ps", "PSTRAIN_REPLICA_INDEX=0",
               "PSTRAIN_RUN_ID=r", "PSTRAIN_JOB_FILE=" + file,
               R"(TF_CONFIG={"cluster":{"chief":["127.0.0.1:1"],"ps":["127.0.0.1:2"]},)"
               R"("task":{"type":"ps","index":0}})"});
    EXPECT_EQ(started.code, 2);
    EXPECT_EQ(started.err, "pstrain-runtime: " + file + message);
  }
}

TEST_F(BadData, Manifest_WhenAbsent_IsNamed) {
  const ProgramEnd run = Start("pstrain", {"run", "absent.yaml"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err, "open absent.yaml: No such file or directory\n");
}

TEST_F(BadData, InputFile_WhenAbsentOrEmpty_FailsAndNamesFieldAndFile) {
  Write("empty.csv", "");
  Write("blank.csv", "\n\n");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"absent.csv", "spec.training.input: absent.csv: No such file or directory"},
      {"empty.csv", "spec.training.input: empty.csv: the file is empty"},
      {"blank.csv", "spec.training.input: blank.csv: the file has no records"}};
  for (const auto& [file, message] : cases) {
    const ProgramEnd end = Run({"--set", kInputFile + file, "--set", kAttempts});
    EXPECT_EQ(end.code, 1);
    EXPECT_THAT(end.err, EndsWith("job failed: InvalidInput: chief-0: " + message + "\n"));
    EXPECT_THAT(end.err, Not(HasSubstr("; attempt 1 starts")));
    EXPECT_TRUE(Checkpoints().empty());
  }
}

TEST_F(BadData, FeatureColumn_WhenTheHeaderLacksIt_IsRefusedByTheChiefBeforeTraining) {
  Write("data.csv", "label,age,town\n1,5,a\n");
  const ProgramEnd end = Run({"--set",
                              "spec.training.input.csv={files: [data.csv], header: true, "
                              "labelColumn: label}"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, EndsWith("job failed: InvalidInput: chief-0: model features: the input has "
                                "no column \"city\"\n"));
  EXPECT_TRUE(Checkpoints().empty());
}

TEST_F(BadData, Record_WithTheWrongNumberOfFields_FailsWithFileAndLine) {
  ExpectRefusedRecord("1,5", "has 2 fields, expected 3");
}

TEST_F(BadData, Record_WithANonNumber_FailsWithFileAndLine) {
  ExpectRefusedRecord("1,old,a", "column age: \"old\" is not a number");
}

TEST_F(BadData, Record_WithAnUnknownLabel_FailsWithFileAndLine) {
  ExpectRefusedRecord("maybe,5,a", "column label: \"maybe\" is not a number");
}

TEST_F(BadData, Records_WhenToBeSkipped_AreCountedAndTheRestIsTrained) {
  WriteDataWithLine(700, "1,5\n1,old,a\nmaybe,5,a");  // two records more than otherwise
  const ProgramEnd end = Run({"--set", "spec.training.input.csv.badRecords=Skip"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.Number("records_skipped"), 3 * kEpochs);
  EXPECT_EQ(end.Number("examples_committed"), (kRecords + 2) * kEpochs);
  EXPECT_EQ(end.Number("applied_min"), (kRecords + 2) * kEpochs);
  EXPECT_EQ(end.Number("applied_max"), (kRecords + 2) * kEpochs);
}

TEST_F(BadData, EvaluationInput_WhenAbsentOrBad_FailsAndNamesTheField) {
  WriteJob(
      "    evaluation:\n"
      "      input:\n"
      "        csv: {files: [test.csv], columns: [label, age, city], labelColumn: label}\n");
  const std::vector<std::string> with_evaluator = {"--set",
                                                   "spec.replicaSpecs.evaluator.replicas=1"};
  const ProgramEnd absent = Run(with_evaluator);
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("job failed: InvalidInput: evaluator-0: "
                                    "spec.training.evaluation.input: test.csv: "));
  Write("test.csv", "1,5,a\n0,x,a\n");
  const ProgramEnd bad = Run(with_evaluator);
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("job failed: InvalidInput: evaluator-0: "
                                 "spec.training.evaluation.input: test.csv:2: "
                                 "column age: \"x\" is not a number"));
}

}  // namespace
}  // namespace pstrain
