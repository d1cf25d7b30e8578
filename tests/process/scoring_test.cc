// `pstrain evaluate` and `pstrain predict` with the checkpoints of a run, as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "runtime/evaluator/metrics.h"
#include "tests/process/program.h"
#include "tests/process/training_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr const char* kPstrain = PSTRAIN_BIN_DIR "/pstrain";
const std::string kTest = PSTRAIN_SOURCE_DIR "/examples/adult/data/adult.test.gz";

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class ScoringTest : public TrainingRunTest {
 protected:
  struct CommandEnd {
    int code = -1;
    std::string out;
    std::string err;
  };

  CommandEnd Call(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kPstrain);
    return Shell(arguments);
  }
  /// `script` in this test's directory; `pstrain` is on its path.
  CommandEnd CallShell(const std::string& script) {
    return Shell({"/bin/sh", "-c", "PATH=" PSTRAIN_BIN_DIR ":$PATH; " + script});
  }
  CommandEnd Shell(const std::vector<std::string>& command) {
    Program program(command, dir_.path());
    CommandEnd end;
    end.code = program.Wait();
    end.out = program.Stdout();
    end.err = program.Stderr();
    return end;
  }

  /// A run of one epoch, whose report is kept.
  void Train() {
    trained_ = RunAdult({"--set", "spec.training.epochs=1"});
    ASSERT_EQ(trained_.code, 0) << trained_.errors;
  }

  /// The records of the test file, without the comment in its first line and white space.
  std::vector<std::string> TestRecords() {
    CommandEnd end = CallShell("gzip -dc " + kTest + " | sed -e '/^|/d' -e '/^$/d' -e 's/, /,/g'");
    EXPECT_EQ(end.code, 0) << end.err;
    return LinesOf(end.out);
  }

  void WriteLines(const std::string& name, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    ASSERT_TRUE(WriteFileAtomically(dir_.File(name), text).ok());
  }

  Ended trained_;
};

TEST_F(ScoringTest, WhatTheEvaluatorHasSaid_IsSaidAgainOfTheRunAndOfItsCheckpoint) {
  ASSERT_NO_FATAL_FAILURE(Train());
  const CommandEnd by_name = Call({"evaluate", "adult", "--json"});
  ASSERT_EQ(by_name.code, 0) << by_name.err;
  const Result<Json> metrics = ParseJson(by_name.out);
  ASSERT_TRUE(metrics.ok()) << by_name.out;
  for (const char* metric : {"auc", "accuracy", "log_loss", "calibration"}) {
    EXPECT_NEAR(Number(*metrics, metric), Number(trained_.report, metric), 1e-9) << metric;
  }
  EXPECT_EQ(Number(*metrics, "records"), 16281);
  EXPECT_EQ(Number(*metrics, "records_skipped"), 0);
  // The folder does not know on what its job is evaluated.
  const std::string checkpoint = *metrics->Find("checkpoint")->AsString();
  const CommandEnd by_folder = Call({"evaluate", checkpoint});
  EXPECT_EQ(by_folder.code, 1);
  EXPECT_THAT(by_folder.err, HasSubstr("no --input is given"));
  const CommandEnd trained_on =
      Call({"evaluate", checkpoint, "--input",
            std::string(PSTRAIN_SOURCE_DIR "/examples/adult/data/adult.data.gz")});
  ASSERT_EQ(trained_on.code, 0) << trained_on.err;
  EXPECT_THAT(trained_on.out, HasSubstr("records             32561\n"));
}

TEST_F(ScoringTest, Predict_PrintsALineForEachRecordWhateverItsLabel) {
  ASSERT_NO_FATAL_FAILURE(Train());
  const std::vector<std::string> records = TestRecords();
  ASSERT_EQ(records.size(), 16281U);
  std::vector<std::string> unlabelled;
  std::vector<float> labels;
  for (const std::string& record : records) {
    unlabelled.push_back(record.substr(0, record.rfind(',')));
    labels.push_back(record.find(">50K") == std::string::npos ? 0.0F : 1.0F);
  }
  WriteLines("labelled.csv", records);
  WriteLines("unlabelled.csv", unlabelled);
  const CommandEnd labelled =
      Call({"predict", "adult", "--input", "labelled.csv", "--output", "scores"});
  ASSERT_EQ(labelled.code, 0) << labelled.err;
  EXPECT_EQ(labelled.out, "");
  const Result<std::string> scores = ReadFile(dir_.File("scores"));
  ASSERT_TRUE(scores.ok());
  BinaryMetrics metrics;
  std::vector<float> values;
  for (const std::string& line : LinesOf(*scores)) values.push_back(std::stof(line));
  ASSERT_EQ(values.size(), labels.size());
  metrics.Add(values, labels);
  EXPECT_NEAR(metrics.Compute().auc.value(), Number(trained_.report, "auc"), 1e-9);
  // The same records by other ways.
  const CommandEnd piped =
      CallShell("cat unlabelled.csv | pstrain predict adult --input - --no-label");
  ASSERT_EQ(piped.code, 0) << piped.err;
  const CommandEnd untold = Call({"predict", "adult", "--input", "unlabelled.csv"});
  EXPECT_EQ(untold.code, 1);
  EXPECT_EQ(untold.err,
            "pstrain predict: unlabelled.csv:1: has 14 fields, expected 15; correct the record, or "
            "give --no-label where the files have no label\n");
  EXPECT_TRUE(piped.out == *scores);
  const CommandEnd packed = CallShell(
      "gzip labelled.csv && pstrain predict adult --input labelled.csv.gz --checkpoint latest");
  ASSERT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(packed.out == *scores);
}

TEST_F(ScoringTest, WhenARecordCannotBeRead_NothingIsWritten) {
  ASSERT_NO_FATAL_FAILURE(Train());
  std::vector<std::string> records = TestRecords();
  records.resize(700);
  records[650] = "old" + records[650].substr(records[650].find(','));
  WriteLines("bad.csv", records);
  ASSERT_TRUE(WriteFileAtomically(dir_.File("scores"), "mine\n").ok());
  const CommandEnd end = Call({"predict", "adult", "--input", "bad.csv", "--output", "scores"});
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(
      end.err,
      "pstrain predict: bad.csv:651: column age: \"old\" is not a number; correct the record, "
      "or take it out of the input\n");
  EXPECT_EQ(*ReadFile(dir_.File("scores")), "mine\n");
  EXPECT_FALSE(FileExists(dir_.File("scores.part")));
  const CommandEnd absent = Call({"predict", "adult", "--input", "absent.csv"});
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("--input: absent.csv"));
  const CommandEnd no_such =
      Call({"predict", "adult", "--input", "bad.csv", "--checkpoint", "9-9"});
  EXPECT_EQ(no_such.code, 1);
  EXPECT_THAT(no_such.err, HasSubstr("there is no checkpoint 9-9 in "));
  const CommandEnd misnamed = Call({"predict", "adlut", "--input", "bad.csv"});
  EXPECT_EQ(misnamed.code, 1);
  EXPECT_THAT(misnamed.err, HasSubstr("adlut is no folder of a run or of a checkpoint, and no job "
                                      "of this name was run here"));
}

}  // namespace
}  // namespace pstrain
