// What `pstrain init` cannot make a job of, one line each: one sentence with the way out, exit code
// 2, and nothing is written.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

struct InitMistake {
  const char* name;
  std::string data;
  std::vector<std::string> arguments = {};
  std::string says = {};
  /// Instead of the usual ones.
  std::vector<std::string> all_arguments = {};
};

std::string Rows(const std::string& header, const std::string& one, const std::string& other,
                 int times = 20) {
  std::string text = header + "\n";
  for (int i = 0; i < times; ++i) text.append(one).append("\n").append(other).append("\n");
  return text;
}

std::string Good() { return Rows("label,age,city", "0,1.5,a", "1,2.5,b"); }

const std::vector<InitMistake>& InitMistakes() {
  static const std::vector<InitMistake> mistakes = {
      // The command line.
      {"NoFile", Good(), {}, "give one file", {"init", "--label", "label"}},
      {"TwoFiles", Good(), {"more.csv"}, "give one file"},
      {"NoLabel", Good(), {}, "no --label is given", {"init", "data.csv"}},
      {"UnknownOption", Good(), {"--lable", "x"}, "did you mean --label?"},
      {"OptionWithoutValue", Good(), {"--eval"}, "--eval needs a value"},
      {"LongDelimiter", Good(), {"--delimiter", "::"}, "give one character"},
      {"QuoteAsDelimiter", Good(), {"--delimiter", "\""}, "give one character"},
      {"EmptyName", Good(), {"--columns", "label,,b"}, "name 2 is empty"},
      {"NameTwice", Good(), {"--columns", "label,a,a"}, "a is there twice"},
      {"TwoMissing", Good(), {"--missing", "?", "--missing", "-"}, "has one such text"},
      {"OutputIsThere", Good(), {"--output", "file"}, "file: is there already; name another"},
      {"OutputIsAFolder", Good(), {"--output", "folder", "--force"}, "is a folder"},
      {"NoSuchFolder", Good(), {"--output", "away/job.yaml"}, "there is no folder away"},
      // The file.
      {"NoSuchFile", Good(), {}, "did you mean \"data.csv\"?", {"init", "dta.csv", "--label", "l"}},
      {"Folder", Good(), {}, "is a folder, not a file", {"init", "folder", "--label", "l"}},
      {"Pattern",
       Good(),
       {},
       "patterns are not expanded here: give one file, of data.csv",
       {"init", "*.csv", "--label", "l"}},
      {"Empty", "", {}, "the file is empty"},
      {"EmptyLines", "\n\n\n", {}, "is no table"},
      {"HeaderAlone", "label,age\n", {}, "has a header and no records"},
      {"Binary", std::string("label,age\n0,\0\n", 14), {}, "is no text file"},
      {"Latin1", "label,age\n0,\xe4\n1,b\n", {}, "data.csv:2: is not UTF-8"},
      {"Utf16", "\xff\xfel\0a\0", {}, "UTF-16 text"},
      {"Zip", "PK\x03\x04rest", {}, "a zip archive"},
      {"Parquet", "PAR1rest", {}, "a Parquet file"},
      {"CorruptGzip", "\x1f\x8b\x08\x08rest of it", {}, "the gzip data are"},
      {"CutGzip", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x49", 12), {}, "gzip"},
      // The table.
      {"NoTable", "some text\nthat is, no table\nat all\n", {}, "is no table"},
      {"WrongDelimiter", Good(), {"--delimiter", ";"}, "is one field when split at \";\""},
      {"OpenQuote", "label,age\n0,\"a\n1,b\n", {}, "a quoted field is not closed"},
      {"NoHeader", Rows("1,2.5,b", "0,1.5,a", "1,2,c"), {}, "looks like data"},
      {"NamesForNoHeader", Rows("1,2.5,b", "0,1.5,a", "1,2,c"), {}, "--columns c1,c2,c3"},
      {"FewerNames", Good(), {"--columns", "label,age"}, "has 3 fields, and --columns names 2"},
      {"NamesAreThere", Good(), {"--columns", "label,age,city"}, "leave --columns out"},
      {"NamelessColumn", Rows("label,,city", "0,1,a", "1,2,b"), {}, "column 2 has no name"},
      {"ColumnTwice", Rows("label,age,age", "0,1,2", "1,2,3"), {}, "two columns are named \"age\""},
      {"LineEndInName", "label,\"a\nb\"\n0,1\n1,2\n", {}, "a line end"},
      {"LongName",
       Rows("label," + std::string(300, 'x'), "0,1", "1,2"),
       {},
       "more than 256 bytes; shorten it"},
      {"UnevenRecords", Good() + "1,2\n1,3\n", {}, "2 fields where there are 3 columns"},
      {"AbsentIgnored", Good(), {"--ignore", "citty"}, "did you mean \"city\"?"},
      {"AbsentCategory", Good(), {"--category", "town"}, "it has label, age, city"},
      // The label.
      {"AbsentLabel",
       Good(),
       {},
       "did you mean \"label\"?; it has label, age, city",
       {"init", "data.csv", "--label", "lable"}},
      {"OneLabel", Rows("label,age", "1,2", "1,3"), {}, "all records have the label \"1\""},
      {"NoLabels", Rows("label,age", ",2", ",3"), {}, "the label is missing"},
      {"LabelsMissing", Rows("label,age", ",2", "1,3"), {}, "20 of 40 records are so"},
      {"LabelIsMissingText",
       Rows("label,age,size", "NA,2,NA", "yes,NA,3"),
       {},
       "which marks a missing value"},
      {"ManyLabels",
       Good() + "2,3,a\n3,4,b\n",
       {},
       "has 4 different labels, \"0\", \"1\", \"2\", \"3\""},
      {"ManyLabelsWayOut", Good() + "2,3,a\n3,4,b\n", {}, "--positive \"3\""},
      {"NoClasses",
       [] {
         std::string text = "label,age\n";
         for (int i = 0; i < 150; ++i) text += std::to_string(i) + ".5,1\n";
         return text;
       }(),
       {},
       "150 different values"},
      {"UnknownPositive", Good(), {"--positive", "yes"}, "has no such label"},
      {"AllPositive",
       Good(),
       {"--positive", "0", "--positive", "1"},
       "one at least must count as 0"},
      // What would be learnt from.
      {"NoFeatures", Rows("label,same", "0,x", "1,x"), {}, "(same: has one value alone)"},
      {"AllIgnored", Rows("label,a", "0,x", "1,y"), {"--ignore", "a"}, "(a: --ignore)"},
      // The held-out file.
      {"NoHeldOut", Good(), {"--eval", "other.csv"}, "other.csv: No such file"},
      {"HeldOutOfAnotherForm", Good(), {"--eval", "form.csv"}, "has no column \"age\""},
      {"HeldOutWithOtherLabels",
       Rows("label,age", "no,1.5", "yes,2.5"),
       {"--eval", "eval.csv"},
       "label \"0\" is not in labelMap"},
  };
  return mistakes;
}

constexpr std::size_t kMistakes = 55;

class InitMistakesTest : public SmallJob, public testing::WithParamInterface<std::size_t> {};

TEST_P(InitMistakesTest, IsRefusedInOneSentence) {
  const InitMistake& mistake = InitMistakes()[GetParam()];
  Write("data.csv", mistake.data);
  Write("eval.csv", Good());
  Write("form.csv", Rows("label,years", "0,1", "1,2"));
  Write("file", "mine");
  ASSERT_TRUE(CreateDirectories(dir_.File("folder")).ok());
  ASSERT_TRUE(RemoveFile(dir_.File("job.yaml")).ok());
  std::vector<std::string> arguments = mistake.all_arguments;
  if (arguments.empty()) arguments = {"init", "data.csv", "--label", "label"};
  arguments.insert(arguments.end(), mistake.arguments.begin(), mistake.arguments.end());
  const ProgramEnd end = Start("pstrain", arguments);
  EXPECT_EQ(end.code, 2) << end.out << end.err;
  EXPECT_THAT(end.err, HasSubstr(mistake.says));
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_THAT(end.err, testing::StartsWith("pstrain init: "));
  EXPECT_EQ(end.out, "");
  EXPECT_FALSE(FileExists(dir_.File("job.yaml")));
  EXPECT_EQ(*ReadFile(dir_.File("file")), "mine");
}

INSTANTIATE_TEST_SUITE_P(All, InitMistakesTest, testing::Range<std::size_t>(0, kMistakes),
                         [](const testing::TestParamInfo<std::size_t>& one) {
                           return std::string(InitMistakes()[one.param].name);
                         });

TEST(InitMistakes, AreAsManyAsAreTried) { EXPECT_EQ(InitMistakes().size(), kMistakes); }

class InitTest : public SmallJob {};

TEST_F(InitTest, WhatIsThere_IsReplacedByForceAlone) {
  Write("data.csv", Good());
  EXPECT_EQ(Start("pstrain", {"init", "data.csv", "--label", "label", "--force"}).code, 0);
  EXPECT_THAT(*ReadFile(dir_.File("job.yaml")), HasSubstr("pstrain init"));
}

TEST_F(InitTest, OfAPackedFile_WritesWhatRuns) {
  Write("data.csv", Rows("label;age;city", "no;1,5;\"a;b\"", "yes;?;b", 200));
  ASSERT_EQ(Program({"/bin/gzip", "data.csv"}, dir_.path()).Wait(), 0);
  const ProgramEnd made =
      Start("pstrain", {"init", "data.csv.gz", "--label", "label", "--eval", "data.csv.gz",
                        "--output", "made.yaml", "--name", "small"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(Start("pstrain", {"validate", "--data", "made.yaml"}).code, 0);
  Write("job.yaml", *ReadFile(dir_.File("made.yaml")));
  const ProgramEnd end = Run();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_GT(end.Number("auc"), 0.99);
}

}  // namespace
}  // namespace pstrain
