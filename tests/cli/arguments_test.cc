#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ArgumentParserTest : public testing::Test {
 protected:
  ArgumentParserTest() {
    parser_.AddFlag("--json", json_);
    parser_.AddValue("--state-dir", state_dir_);
    parser_.AddList("--set", sets_);
  }
  std::string Error(const std::vector<std::string>& args) {
    return parser_.Parse(args).status().message();
  }

  ArgumentParser parser_;
  bool json_ = false;
  std::string state_dir_;
  std::vector<std::string> sets_;
};

TEST_F(ArgumentParserTest, Parse_WithOptionsInAnyOrder_FillsTargets) {
  const auto rest = parser_.Parse({"--set", "a=1", "job.yaml", "--json", "--set=b=2", "--", "-x"});
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(*rest, ElementsAre("job.yaml", "-x"));
  EXPECT_THAT(sets_, ElementsAre("a=1", "b=2"));
  EXPECT_TRUE(json_);
}

TEST_F(ArgumentParserTest, Parse_WhenAskedForTheOptions_ListsThem) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parser_.Parse({"--list-options"}).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "--json\n--state-dir\n--set\n");
  EXPECT_THAT(Error({"--list-options", "x"}), HasSubstr("unknown option"));
}

TEST_F(ArgumentParserTest, Parse_WithBadOptions_SaysWhatIsWrong) {
  EXPECT_THAT(Error({"--jsn"}), HasSubstr("did you mean --json?"));
  EXPECT_THAT(Error({"--state-dir"}), HasSubstr("needs a value"));
  EXPECT_THAT(Error({"--json=yes"}), HasSubstr("takes no value"));
  EXPECT_THAT(Error({"--state-dir", "a", "--state-dir", "b"}), HasSubstr("twice"));
}

TEST(WithoutSlash, LeavesTheRoot) {
  EXPECT_EQ(WithoutSlash("a/b//"), "a/b");
  EXPECT_EQ(WithoutSlash("a"), "a");
  EXPECT_EQ(WithoutSlash("/"), "/");
  EXPECT_EQ(WithoutSlash(""), "");
}

}  // namespace
}  // namespace pstrain
