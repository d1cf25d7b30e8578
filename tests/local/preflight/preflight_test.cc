#include "local/preflight/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/os/files.h"
#include "proto/job/input_kind.h"
#include "tests/runtime/input/gzip_file.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PreflightTest : public testing::Test {
 protected:
  PreflightTest() {
    training().mutable_checkpoint()->set_directory(dir_.File("checkpoints"));
    AddFeature("age")->mutable_numeric();
    AddFeature("city")->mutable_hashed()->set_buckets(10);
    CsvInput& csv = *training().mutable_input()->mutable_csv();
    csv.add_files(path_);
    csv.set_header(true);
    csv.set_label_column("label");
    csv.set_max_bad_record_fraction(0.01);
  }

  Training& training() { return *spec_.mutable_training(); }
  CsvInput& csv() { return *training().mutable_input()->mutable_csv(); }
  Feature* AddFeature(const std::string& name) {
    Feature* feature = training().add_features();
    feature->set_name(name);
    return feature;
  }
  /// A header and `records` lines, of which the first `bad` and each `every`th are bad.
  void WriteData(int records, int bad, int every = 0) {
    std::string data = "label,age,city\n";
    for (int i = 0; i < records; ++i) {
      const bool is_bad = i < bad || (every > 0 && i % every == every - 1);
      data += is_bad ? "1,old,a\n" : "1,30,a\n";
    }
    WriteTestFile(path_, data);
  }
  std::vector<std::string> Findings() { return CheckData(spec_); }

  TempDir dir_;
  const std::string path_ = dir_.File("data.csv");
  JobSpec spec_;
};

TEST_F(PreflightTest, WhenTheDataAreWhatTheJobSays_FindsNothing) {
  WriteTestFile(path_, "\xef\xbb\xbflabel,age,city\r\n1,30,a\r\n0,,\"b, or c\"\r\n\r\n1,+3e1,\r\n");
  EXPECT_THAT(Findings(), IsEmpty());
  WriteGzipFile(path_, "label,age,city\n1,30,a\n");
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(PreflightTest, ForEachKindOfInput_TheContentOfFilesIsChecked) {
  WriteTestFile(path_, "what no reader takes for a record with a label\n");
  const google::protobuf::OneofDescriptor& kinds = *Input::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds.field_count(); ++i) {
    Input& input = *training().mutable_input();
    input.Clear();
    input.GetReflection()->MutableMessage(&input, kinds.field(i));
    SetFilesOf(input, {path_});
    EXPECT_THAT(Findings(), testing::Contains(HasSubstr("spec.training.input." + KindOf(input))))
        << "kChecks in local/preflight/preflight.cc has no line for it";
  }
}

TEST_F(PreflightTest, WhenTheFileGoesOnBehindTheSample_ItsCutRecordIsNoFinding) {
  // Nobody knows how the last record of the first MiB goes on.
  std::string data = "label,age,city\n";
  while (data.size() < (std::size_t{3} << 20)) data += "1,30," + std::string(4000, 'x') + "\n";
  WriteTestFile(path_, data);
  EXPECT_THAT(Findings(), IsEmpty());
  WriteTestFile(path_, "label,age,city\n1,30,\"" + std::string(std::size_t{3} << 20, 'x') + "\"\n");
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(PreflightTest, WhenOneRecordBehindGoodOnesIsBad_SkipIsProposed) {
  WriteData(200, 0, 200);
  EXPECT_THAT(Findings(),
              ElementsAre("spec.training.input.csv: " + path_ +
                          ":201: column age: \"old\" is not a number; correct the record, or leave "
                          "such records out with badRecords: Skip"));
}

TEST_F(PreflightTest, WhenTheFirstRecordIsBad_SkipIsNotProposed) {
  WriteData(200, 1);
  EXPECT_THAT(Findings(), ElementsAre("spec.training.input.csv: " + path_ +
                                      ":2: column age: \"old\" is not a number"));
}

TEST_F(PreflightTest, WhenAWholeColumnIsText_ThatIsTheFinding) {
  WriteTestFile(path_, "label,age,city\n1,old,a\n0,young,b\n");
  EXPECT_THAT(Findings(),
              ElementsAre("spec.training.input.csv: " + path_ +
                          ":2: column age holds text (\"old\"), and feature age is numeric; use "
                          "vocabulary: {values: [...]} or hashed: {buckets: N} for it"));
}

TEST_F(PreflightTest, WhenBadRecordsAreSkipped_TheLimitCountsWhereTheWholeInputWasSeen) {
  csv().set_bad_records(Input::Skip);
  WriteData(200, 0, 100);
  EXPECT_THAT(Findings(), IsEmpty());
  WriteData(200, 3);
  ASSERT_FALSE(Findings().empty());
  EXPECT_THAT(Findings().front(), HasSubstr("3 of the first 200 records are bad"));
  csv().set_max_bad_records(3);
  csv().set_max_bad_record_fraction(0.5);
  EXPECT_THAT(Findings(), IsEmpty());
  csv().set_max_bad_records(2);
  ASSERT_FALSE(Findings().empty());
  EXPECT_THAT(Findings().front(), HasSubstr("maxBadRecords"));
}

TEST_F(PreflightTest, WhenBadRecordsAreSkippedInALongInput_OnlyMoreBadThanGoodOnesAreAFinding) {
  csv().set_bad_records(Input::Skip);
  WriteData(5000, 50);  // a comment of fifty lines
  EXPECT_THAT(Findings(), IsEmpty());
  WriteData(5000, 600);
  ASSERT_FALSE(Findings().empty());
  EXPECT_THAT(Findings().front(), HasSubstr("600 of the first 1000 records are bad"));
}

TEST_F(PreflightTest, WhenThereAreManyFiles_EachIsLookedFor) {
  WriteData(1200, 0);
  for (int i = 0; i < 20; ++i) {
    const std::string path = dir_.File("day-" + std::to_string(i) + ".csv");
    WriteTestFile(path, "label,age,city\n1,30,a\n");
    csv().add_files(path);
  }
  EXPECT_THAT(Findings(), IsEmpty());
  ASSERT_TRUE(RemoveFile(dir_.File("day-19.csv")).ok());
  ASSERT_EQ(Findings().size(), 1u);
  EXPECT_THAT(Findings().front(), HasSubstr("day-19.csv: No such file or directory"));
  // Of the first ones also the header.
  WriteTestFile(dir_.File("day-1.csv"), "label,age,town\n1,30,a\n");
  WriteTestFile(dir_.File("day-19.csv"), "label,age,city\n1,30,a\n");
  ASSERT_EQ(Findings().size(), 1u);
  EXPECT_THAT(Findings().front(), HasSubstr("day-1.csv has no column \"city\""));
}

TEST_F(PreflightTest, WhenAPatternIsGiven_ItsFilesAreLookedAt) {
  csv().set_files(0, dir_.File("day-*.csv"));
  WriteData(20, 0);
  EXPECT_THAT(MatchedFiles(spec_), IsEmpty());
  EXPECT_THAT(Findings(), ElementsAre("spec.training.input.csv: no file matches \"" +
                                      dir_.File("day-*.csv") + "\"; the folder has data.csv"));
  const auto why = [](const std::string& path) { return "no volume for " + BaseName(path); };
  EXPECT_THAT(CheckData(spec_, why),
              ElementsAre("spec.training.input.csv: no volume for day-*.csv"));
  WriteTestFile(dir_.File("day-1.csv"), "label,age,city\n1,30,a\n");
  WriteTestFile(dir_.File("day-2.csv"), "label,age,city\n1,old,a\n");
  EXPECT_THAT(CheckData(spec_, why), ElementsAre(HasSubstr("day-2.csv:2: column age holds text")));
  WriteTestFile(dir_.File("day-2.csv"), "label,age,city\n1,31,a\n");
  EXPECT_THAT(CheckData(spec_, why), IsEmpty());
  EXPECT_THAT(
      MatchedFiles(spec_),
      ElementsAre("spec.training.input.csv: \"" + dir_.File("day-*.csv") + "\" matches 2 files, " +
                  dir_.File("day-1.csv") + " to " + dir_.File("day-2.csv")));
}

TEST_F(PreflightTest, WhenTheCallerKnowsWhyAFileIsAbsent_ThatIsTheFinding) {
  const auto why = [](const std::string& path) { return "no volume for " + BaseName(path); };
  EXPECT_THAT(CheckData(spec_, why),
              ElementsAre("spec.training.input.csv: no volume for data.csv"));
}

TEST_F(PreflightTest, WhenATfRecordFileIsAnother_SaysSo) {
  training().mutable_input()->mutable_tf_record()->add_files(path_);
  training().mutable_input()->mutable_tf_record()->set_label_feature("label");
  WriteData(20, 0);
  ASSERT_EQ(Findings().size(), 1u);
  EXPECT_THAT(Findings().front(), HasSubstr("this is no TFRecord file"));
}

TEST_F(PreflightTest, WhenAJobHasNoTraining_ThereIsNothingToLookAt) {
  EXPECT_THAT(CheckData(JobSpec()), IsEmpty());
}

}  // namespace
}  // namespace pstrain
