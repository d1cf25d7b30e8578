// Manifests and input files that are wrong, as `pstrain run` meets them.
#include <gmock/gmock.h>

#include "proto/contract/stated_failure.h"
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

class BadData : public SmallJob {
 protected:
  /// Behind the records that are looked at before the start: a worker finds it.
  void ExpectRefusedRecord(const std::string& line, const std::string& what) {
    WriteDataWithLine(700, line);
    const std::string bad = *ReadFile(dir_.File("data.csv"));
    WriteDataWithLine(0, "");
    Write("data.csv", *ReadFile(dir_.File("data.csv")) + bad);
    const ProgramEnd end = Run({"--set", kAttempts});
    EXPECT_EQ(end.code, 1) << end.out;
    const std::string error = "InvalidInput: worker-0: data.csv:1700: " + what + kWayOut;
    EXPECT_THAT(end.err, EndsWith("job failed: " + error + "\n"));
    EXPECT_THAT(end.err, Not(HasSubstr("to continue: ")));
    EXPECT_THAT(end.err, Not(HasSubstr("; attempt 1 starts")));
    EXPECT_EQ(end.Text("error"), error);
    EXPECT_EQ(end.Text("state"), "Failed");
  }

  /// The runtime alone, as a role of a cluster where nobody else is; what it states as the reason.
  StatedFailure StatedBy(const std::string& role) {
    const std::string tf_config =
        R"({"cluster":{"chief":["127.0.0.1:0"],"ps":["127.0.0.1:2"],"worker":["127.0.0.1:3"]},)"
        R"("task":{"type":")" +
        role + R"(","index":0}})";
    const ProgramEnd end =
        Start("pstrain-runtime", {},
              {"PSTRAIN_JOB_NAME=small", "PSTRAIN_REPLICA_TYPE=" + role, "PSTRAIN_REPLICA_INDEX=0",
               "PSTRAIN_RUN_ID=r1", "PSTRAIN_JOB_FILE=job.yaml", "TF_CONFIG=" + tf_config,
               "PSTRAIN_FAILURE_FILE=failure"});
    EXPECT_EQ(end.code, 87) << end.err;
    const Result<std::string> text = ReadFile(dir_.File("failure"));
    const auto failure = text.ok() ? ParseStatedFailure(*text) : std::nullopt;
    return failure.value_or(StatedFailure{});
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

TEST_F(BadData, InputFile_WhenAbsentOrEmpty_EndsTheChiefForGoodBeforePeersAreAwaited) {
  Write("empty.csv", "");
  Write("blank.csv", "\n\n");
  const std::string job = *ReadFile(dir_.File("job.yaml"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"absent.csv", "spec.training.input: absent.csv: No such file or directory"},
      {"empty.csv", "spec.training.input: empty.csv: the file is empty"},
      {"blank.csv", "spec.training.input: blank.csv: the file has no records"}};
  for (const auto& [file, message] : cases) {
    std::string changed = job;
    changed.replace(changed.find("data.csv"), 8, file);
    Write("job.yaml", changed);
    EXPECT_EQ(StatedBy("chief"), (StatedFailure{"InvalidInput", message}));
    EXPECT_TRUE(Checkpoints().empty());
  }
}

TEST_F(BadData, FeatureColumn_WhenTheInputLacksIt_EndsTheChiefForGood) {
  Write("data.csv", "label,age,town\n1,5,a\n");
  std::string job = *ReadFile(dir_.File("job.yaml"));
  const std::string columns = "columns: [label, age, city]";
  job.replace(job.find(columns), columns.size(), "header: true");
  Write("job.yaml", job);
  EXPECT_EQ(StatedBy("chief"),
            (StatedFailure{"InvalidInput", "model features: the input has no column \"city\""}));
}

TEST_F(BadData, CheckpointDirectory_WhenItCannotBeWritten_EndsTheChiefForGood) {
  Write("checkpoints", "a file");
  const StatedFailure failure = StatedBy("chief");
  EXPECT_EQ(failure.reason, "InvalidInput");
  EXPECT_THAT(failure.message, HasSubstr("spec.training.checkpoint.directory checkpoints must be "
                                         "writable and have room: create directory"));
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

TEST_F(BadData, Records_WhenMoreAreBadThanMayBe_FailTheJobForGood) {
  // 20 of 2,000 are admitted, and the first thousand, which are looked at before the start, are
  // good.
  const std::string good = *ReadFile(dir_.File("data.csv"));
  std::string bad = good;
  for (int i = 0; i < 21; ++i) bad.replace(bad.find("\n0,"), 3, "\nx,");
  Write("data.csv", good + bad);
  const std::vector<std::string> skip = {"--set", "spec.training.input.csv.badRecords=Skip",
                                         "--set", kAttempts};
  const ProgramEnd end = Run(skip);
  EXPECT_EQ(end.code, 1) << end.out;
  EXPECT_THAT(end.err, HasSubstr("job failed: InvalidInput: chief-0: spec.training.input: "));
  EXPECT_THAT(end.err, HasSubstr("csv.maxBadRecords and maxBadRecordFraction admit 20 of the "
                                 "input's 2000 a pass"));
  std::vector<std::string> more = skip;
  more.insert(more.end(), {"--set", "spec.training.input.csv.maxBadRecordFraction=0.02"});
  const ProgramEnd admitted = Run(more);
  EXPECT_EQ(admitted.code, 0) << admitted.err;
  EXPECT_EQ(admitted.Number("records_skipped"), 21 * kEpochs);
  EXPECT_THAT(admitted.err, HasSubstr("warning: 42 bad records were left out (badRecords: Skip)"));
  EXPECT_THAT(admitted.err, HasSubstr("  data.csv:1"));
  EXPECT_THAT(admitted.out, HasSubstr("\"bad_records\":[\"data.csv:1"));
}

class BadEvaluation : public BadData {
 protected:
  void SetUp() override {
    BadData::SetUp();
    WriteJob(
        "    evaluation:\n"
        "      metrics: [auc, accuracy]\n"
        "      input:\n"
        "        csv: {files: [test.csv], columns: [label, age, city], labelColumn: label}\n");
  }
  ProgramEnd RunEvaluated(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--set", "spec.replicaSpecs.evaluator.replicas=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(BadEvaluation, Input_WhenAbsentOrBad_IsNamedBeforeAnythingIsStarted) {
  const ProgramEnd absent = RunEvaluated();
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, HasSubstr("spec.training.evaluation.input.csv: test.csv: "));
  Write("test.csv", "1,5,a\n0,x,a\n");
  const ProgramEnd bad = RunEvaluated();
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("spec.training.evaluation.input.csv: test.csv:2: column age"));
}

TEST_F(BadEvaluation, Record_BehindTheFirstOnes_FailsTheJobForGood) {
  std::string data = *ReadFile(dir_.File("data.csv"));
  Write("test.csv", data + "0,x,a\n");
  const ProgramEnd end = RunEvaluated({"--set", kAttempts});
  EXPECT_EQ(end.code, 1) << end.out;
  EXPECT_THAT(end.err, EndsWith("job failed: InvalidInput: evaluator-0: "
                                "spec.training.evaluation.input: test.csv:1001: column age: \"x\" "
                                "is not a number" +
                                std::string(kWayOut) + "\n"));
}

TEST_F(BadEvaluation, Labels_WhenAllAreOfOneClass_GiveNoAuc) {
  Write("test.csv", "0,5,a\n0,7,b\n");
  const ProgramEnd end = RunEvaluated();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("\"auc\":null"));
  EXPECT_GE(end.Number("accuracy"), 0);
}

TEST_F(BadEvaluation, OfAFinishedRun_WhenItHasChanged_IsDoneAgain) {
  Write("test.csv", "0,5,a\n1,7,b\n");
  const ProgramEnd first = RunEvaluated();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_GE(first.Number("auc"), 0);
  Write("other.csv", "0,5,a\n0,7,b\n");
  const ProgramEnd again =
      RunEvaluated({"--resume", "--set", "spec.training.evaluation.input.csv.files[0]=other.csv"});
  ExpectAllAppliedOnce(again);
  EXPECT_THAT(again.out, HasSubstr("\"auc\":null"));
  const ProgramEnd refused = RunEvaluated({"--resume", "--set", "spec.training.seed=5"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("job failed: InvalidInput: chief-0: spec.training.seed was"));
}

}  // namespace
}  // namespace pstrain
