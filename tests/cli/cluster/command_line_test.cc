#include "cli/cluster/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape LogsShape() {
  return {.name = "logs",
          .usage = "JOB [options]",
          .about = "Shows logs.",
          .example = "pstrain logs adult",
          .fewest = 1,
          .most = 1,
          .options = {Option::kRole, Option::kIndex, Option::kFollow, Option::kTail, Option::kSince,
                      Option::kJson}};
}

TEST(CommandLine, Parse_ReadsOptionsAndTarget) {
  const auto given = ParseGiven(
      LogsShape(), {"adult", "--role", "ps", "--index=3", "--follow", "--tail", "5", "--since",
                    "10m", "-n", "team", "--context", "c", "--kubeconfig", "f", "-o", "json"});
  ASSERT_TRUE(given.ok()) << given.status().ToString();
  EXPECT_THAT(given->names, ElementsAre("adult"));
  EXPECT_EQ(given->Text(Option::kRole), "ps");
  EXPECT_EQ(given->Number(Option::kIndex), 3);
  EXPECT_TRUE(given->Has(Option::kFollow));
  EXPECT_FALSE(given->Has(Option::kMerge));
  EXPECT_EQ(given->Number(Option::kTail), 5);
  EXPECT_EQ(given->Duration(Option::kSince), std::chrono::minutes(10));
  EXPECT_EQ(given->target.name_space, "team");
  EXPECT_EQ(given->target.context, "c");
  EXPECT_EQ(given->target.kubeconfig, "f");
}

TEST(CommandLine, Parse_OfWrongValues_NamesTheOption) {
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{"a", "--role", "boss"}, "--role boss: must be chief, ps, worker or evaluator"},
      {{"a", "--index", "1"}, "--index needs --role"},
      {{"a", "--role", "ps", "--index", "one"}, "--index one: must be a number"},
      {{"a", "--tail", "-3"}, "--tail -3: must be a number"},
      {{"a", "--since", "soon"}, "--since soon: must be a number of seconds"},
      {{"a", "-o", "yaml"}, "-o yaml: must be json"},
      {{"a", "--merge"}, "unknown option --merge"},
      {{"a", "b"}, "takes JOB [options]"},
      {{}, "takes JOB"},
      {{""}, "a name is empty"},
  };
  for (const auto& [args, reason] : bad) {
    const auto given = ParseGiven(LogsShape(), args);
    ASSERT_FALSE(given.ok()) << reason;
    EXPECT_THAT(given.status().message(), HasSubstr(reason));
  }
}

TEST(CommandLine, Help_HasEachOptionAndAnExample) {
  const std::string help = HelpText(LogsShape());
  for (const char* part : {"usage: pstrain logs JOB [options]", "--role ROLE ", "--follow ",
                           "-n, --namespace NAME", "example: pstrain logs adult"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
  EXPECT_TRUE(ParseGiven(LogsShape(), {"--help"})->help);
}

TEST(CommandLine, ReadsDurations) {
  EXPECT_EQ(ParseWait("90"), std::chrono::seconds(90));
  EXPECT_EQ(ParseWait("90s"), std::chrono::seconds(90));
  EXPECT_EQ(ParseWait("2h"), std::chrono::hours(2));
  EXPECT_FALSE(ParseWait(""));
  EXPECT_FALSE(ParseWait("-1"));
  EXPECT_FALSE(ParseWait("m"));
}

}  // namespace
}  // namespace pstrain::cluster
