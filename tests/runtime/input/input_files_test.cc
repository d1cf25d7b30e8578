#include "runtime/input/input_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/os/files.h"
#include "runtime/input/record_source.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InputFilesTest : public ::testing::Test {
 protected:
  InputFilesTest() {
    for (const char* name :
         {"part-2.csv", "part-10.csv", "part-1.csv", ".part-0.csv", "other.csv"}) {
      WriteTestFile(dir_.File(name), "1\n");
    }
  }
  /// The files that these entries stand for.
  Result<std::vector<std::string>> Expand(const std::vector<std::string>& entries) {
    Input input;
    input.mutable_csv()->add_columns("x");
    for (const std::string& entry : entries) input.mutable_csv()->add_files(dir_.File(entry));
    return ExpandFiles(input);
  }

  TempDir dir_;
};

TEST_F(InputFilesTest, Pattern_StandsForItsFilesByTheirBytesInItsPlace) {
  EXPECT_THAT(*Expand({"other.csv", "part-*.csv"}),
              ElementsAre(dir_.File("other.csv"), dir_.File("part-1.csv"), dir_.File("part-10.csv"),
                          dir_.File("part-2.csv")));
  EXPECT_THAT(
      *Expand({"part-?.csv", "other.csv"}),
      ElementsAre(dir_.File("part-1.csv"), dir_.File("part-2.csv"), dir_.File("other.csv")));
  EXPECT_THAT(*Expand({"part-[2-9].csv"}), ElementsAre(dir_.File("part-2.csv")));
}

TEST_F(InputFilesTest, Pattern_WhenAFileHasExactlyThisName_IsThatFile) {
  WriteTestFile(dir_.File("part-[1].csv"), "1\n");
  EXPECT_THAT(*Expand({"part-[1].csv"}), ElementsAre(dir_.File("part-[1].csv")));
  EXPECT_FALSE(IsPattern(dir_.File("part-[1].csv")));
  EXPECT_TRUE(IsPattern(dir_.File("part-[2].csv")));
  EXPECT_FALSE(IsPattern(dir_.File("absent.csv")));
}

TEST_F(InputFilesTest, Pattern_WhenNothingMatches_IsRefusedByName) {
  const Status none = Expand({"other.csv", "day-*.csv"}).status();
  EXPECT_EQ(none.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(none.message(), "no file matches \"" + dir_.File("day-*.csv") + "\"");
  // What cannot be looked at is no empty folder.
  EXPECT_EQ(Expand({"days/day-*.csv"}).status().code(), StatusCode::kNotFound);
}

TEST_F(InputFilesTest, File_WhenAPatternHasItAgain_IsRefusedByName) {
  for (const std::vector<std::string>& entries :
       {std::vector<std::string>{"part-*.csv", "part-2.csv"}, {"part-2.csv", "part-*.csv"}}) {
    const Status twice = Expand(entries).status();
    EXPECT_EQ(twice.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(twice.message(), HasSubstr(dir_.File("part-2.csv") + ": is in the input twice, "));
    EXPECT_THAT(twice.message(), HasSubstr("\"" + dir_.File("part-*.csv") + "\""));
  }
  // Written twice by a person, it is read twice.
  EXPECT_EQ(Expand({"part-2.csv", "part-2.csv"})->size(), 2U);
}

TEST_F(InputFilesTest, Opened_AreTheFilesOfThePatterns) {
  Input input;
  input.mutable_csv()->add_columns("x");
  input.mutable_csv()->add_files(dir_.File("part-?.csv"));
  const Result<InputFiles> opened =
      OpenInputFiles(input, **CreateRecordSource(input), dir_.File("scratch"));
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  ASSERT_EQ(opened->files.size(), 2U);
  EXPECT_EQ(opened->files[1].name, dir_.File("part-2.csv"));
}

}  // namespace
}  // namespace pstrain
