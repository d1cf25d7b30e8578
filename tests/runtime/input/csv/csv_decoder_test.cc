#include "runtime/input/csv/csv_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "runtime/input/batch_reader.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;

class CsvDecoderTest : public ::testing::Test {
 protected:
  /// Reads `content` with the small training's input, changed by `change`.
  template <typename Change>
  Result<Batch> Read(const std::string& content, Change change, FeatureSetOptions options = {},
                     Labels labels = Labels::kRequired) {
    WriteTestFile(path_, content);
    Training training = SmallTraining(path_);
    change(training);
    PSTRAIN_ASSIGN_OR_RETURN(FeatureSet set, FeatureSet::Create(training.features(), options));
    PSTRAIN_ASSIGN_OR_RETURN(
        auto reader, SequentialReader::Create(training.input(),
                                              std::make_shared<const FeatureSet>(std::move(set)),
                                              {.scratch = dir_.File("scratch"), .labels = labels}));
    return reader->Next(100);
  }
  Result<Batch> Read(const std::string& content) {
    return Read(content, [](Training&) {});
  }
  void ExpectBadRecord(const Result<Batch>& result, const std::string& what) {
    const bool first = what.starts_with(":1:");
    ExpectError(result, what + "; correct the record, or " +
                            (first ? "what the job says of the input"
                                   : "leave such records out with csv.badRecords: Skip"));
  }
  void ExpectError(const Result<Batch>& result, const std::string& ending) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(result.status().message(), path_ + ending);
  }

  TempDir dir_;
  std::string path_ = dir_.File("a.csv");
};

TEST_F(CsvDecoderTest, WhenRecordsAreGood_FillsTheColumns) {
  const Result<Batch> batch = Read("31, clerk, no\n?, pilot, yes\n7, ?, yes\n");
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->records, 3U);
  EXPECT_THAT(batch->labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(batch->features[0].values, ElementsAre(31, -1, 7));
  EXPECT_THAT(batch->features[1].ids, ElementsAre(0, 2));
  EXPECT_THAT(batch->features[1].offsets, ElementsAre(0, 1, 2, 2));
}

TEST_F(CsvDecoderTest, WhenARecordIsBad_NamesFileLineAndColumn) {
  ExpectBadRecord(Read("31,clerk,no\n\nabc,cook,no\n"), ":3: column age: \"abc\" is not a number");
  ExpectBadRecord(Read("31,clerk\n"), ":1: has 2 fields, expected 3");
  ExpectBadRecord(Read("31,clerk,no\n1,cook,maybe\n"),
                  ":2: column y: unknown label \"maybe\", not in csv.labelMap");
  ExpectBadRecord(Read("31,clerk,?\n"), ":1: column y: the label is missing");
  ExpectBadRecord(Read("1e999,clerk,no\n"), ":1: column age: \"1e999\" is out of range");
  ExpectBadRecord(Read("nan,clerk,no\n"), ":1: column age: \"nan\" is not a number");
  ExpectBadRecord(Read("1,\"clerk\"x,no\n"), ":1: text after a closing quote");
  ExpectError(Read("1,clerk,no\n1,\"clerk,no\n"), ":2: a quoted field is not closed");
}

TEST_F(CsvDecoderTest, WhenPolicyIsSkip_CountsAndGoesOn) {
  const Result<Batch> batch =
      Read("31,clerk,no\nabc,cook,no\n5\n8,cook,maybe\n9,cook,yes\n", [](Training& training) {
        training.mutable_input()->mutable_csv()->set_bad_records(Input::Skip);
      });
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->records, 2U);
  EXPECT_EQ(batch->skipped, 3U);
  EXPECT_THAT(batch->features[0].values, ElementsAre(31, 9));
  EXPECT_THAT(batch->features[1].offsets, ElementsAre(0, 1, 2));
}

TEST_F(CsvDecoderTest, WhenLabelsAreNumbers_TakesThoseBetweenZeroAndOne) {
  const auto numbers = [](Training& training) {
    training.mutable_input()->mutable_csv()->clear_label_map();
  };
  const Result<Batch> batch = Read("1,cook,0.25\n", numbers);
  ASSERT_TRUE(batch.ok());
  EXPECT_THAT(batch->labels, ElementsAre(0.25F));
  ExpectBadRecord(Read("1,cook,2\n", numbers), ":1: column y: label 2 is not between 0 and 1");
}

TEST_F(CsvDecoderTest, WhenFilesHaveHeaders_TakesTheColumnsFromThem) {
  const auto header = [](Training& training) {
    training.mutable_input()->mutable_csv()->clear_columns();
    training.mutable_input()->mutable_csv()->set_header(true);
  };
  const Result<Batch> batch = Read("\xef\xbb\xbfy,\"job\",age\nyes,cook,4\n", header);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_THAT(batch->features[0].values, ElementsAre(4));
  ExpectError(Read("y,y,age\nyes,cook,4\n", header), ":1: the header names column \"y\" twice");
}

TEST_F(CsvDecoderTest, WhenColumnsDoNotFit_NamesThem) {
  const auto refuse = [this](auto change) {
    return Read("1,cook,no\n", change).status().message();
  };
  EXPECT_EQ(refuse([](Training& t) { t.mutable_input()->mutable_csv()->set_label_column("z"); }),
            "input.csv.labelColumn: the input has no column \"z\"");
  EXPECT_EQ(
      refuse([](Training& t) { t.mutable_input()->mutable_csv()->add_ignore_columns("job"); }),
      "model features: column \"job\" is ignored");
  EXPECT_EQ(refuse([](Training& t) { t.mutable_input()->mutable_csv()->set_label_column("age"); }),
            "model features: column \"age\" is the label");
  EXPECT_EQ(refuse([](Training& t) { t.mutable_features(0)->set_name("n0"); }),
            "model features: the input has no column \"n0\"");
  EXPECT_EQ(refuse([](Training& t) { t.mutable_input()->mutable_csv()->clear_columns(); }),
            "input.csv: columns are required without a header");
}

TEST_F(CsvDecoderTest, WhenLabelsAreNotRead_AnythingMayStandThere) {
  const auto read = [this](const std::string& content, Labels labels, bool header) {
    return Read(
        content,
        [&](Training& training) { training.mutable_input()->mutable_csv()->set_header(header); },
        {}, labels);
  };
  const auto expect_records = [](const Result<Batch>& batch) {
    ASSERT_TRUE(batch.ok()) << batch.status().ToString();
    EXPECT_THAT(batch->features[0].values, ElementsAre(31, 7));
    EXPECT_THAT(batch->features[1].ids, ElementsAre(0, 1));
    EXPECT_THAT(batch->labels, ElementsAre(0, 0));
  };
  expect_records(read("31,clerk,maybe\n7,cook,\n", Labels::kIgnored, false));
  expect_records(read("age,job,y\n31,clerk,maybe\n7,cook,\n", Labels::kIgnored, true));
  expect_records(read("age,job\n31,clerk\n7,cook\n", Labels::kIgnored, true));
  expect_records(read("31,clerk\n7,cook\n", Labels::kAbsent, false));
  expect_records(read("age,job,y\n31,clerk,no\n7,cook,no\n", Labels::kAbsent, true));
  expect_records(read("age,job\n31,clerk\n7,cook\n", Labels::kAbsent, true));
  ExpectBadRecord(read("31,clerk\n7,cook,no\n", Labels::kAbsent, false),
                  ":2: has 3 fields, expected 2");
  ExpectBadRecord(read("31,clerk\n", Labels::kIgnored, false), ":1: has 2 fields, expected 3");
}

TEST_F(CsvDecoderTest, WhenAHeaderHasNoLabel_WhoNeedsItSaysSo) {
  const Result<Batch> batch = Read("age,job\n31,clerk\n", [](Training& training) {
    training.mutable_input()->mutable_csv()->set_header(true);
  });
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.status().message(), "input.csv.labelColumn: the input has no column \"y\"");
}

TEST_F(CsvDecoderTest, WhenTheModelWantsFingerprints_TheyDependOnEveryField) {
  const auto featureless = [](Training& t) { t.clear_features(); };
  const Result<Batch> batch =
      Read("1,cook,no\n1,cook,no\n1,cook,yes\n2,cook,no\n", featureless, {.fingerprints = true});
  ASSERT_TRUE(batch.ok());
  ASSERT_EQ(batch->fingerprints.size(), 4U);
  EXPECT_EQ(batch->fingerprints[0], batch->fingerprints[1]);
  EXPECT_NE(batch->fingerprints[0], batch->fingerprints[2]);
  EXPECT_NE(batch->fingerprints[0], batch->fingerprints[3]);
}

}  // namespace
}  // namespace pstrain
