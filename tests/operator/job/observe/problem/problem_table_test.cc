#include "operator/job/observe/problem/problem_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "base/os/files.h"

namespace pstrain::job {
namespace {

TEST(ProblemTable, EachRow_HasAReasonAMeaningAndAWayOut) {
  for (const ProblemRow& row : ProblemTable()) {
    EXPECT_FALSE(row.meaning.empty());
    EXPECT_TRUE(row.meaning.ends_with('.')) << row.meaning;
    const bool hopeless = row.reason == "NamespaceTerminating";
    EXPECT_EQ(row.way_out.empty(), hopeless) << row.meaning;
    EXPECT_FALSE(row.way_out.ends_with('.')) << row.way_out;
    // A condition has room for the words of Kubernetes and this.
    EXPECT_LT(row.way_out.size(), 300U) << row.meaning;
  }
}

TEST(ProblemTable, EachRow_CanBeReached) {
  std::set<std::tuple<ProblemSource, std::string_view, std::string_view>> seen;
  for (const ProblemRow& row : ProblemTable()) {
    EXPECT_TRUE(seen.insert({row.source, row.said, row.words}).second) << row.meaning;
    std::string said(row.said.substr(0, row.said.find('|')));
    if (said.ends_with('*')) said.back() = 'x';
    const ProblemRow* found =
        FindProblemRow(row.source, said, row.words.substr(0, row.words.find('|')));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->meaning, row.meaning) << "an earlier row takes what this one is for";
  }
}

TEST(FindProblemRow, WhenNoRowFits_IsNone) {
  EXPECT_EQ(FindProblemRow(ProblemSource::kWaiting, "ContainerCreating", ""), nullptr);
  EXPECT_EQ(FindProblemRow(ProblemSource::kWaiting, "PodInitializing", ""), nullptr);
  EXPECT_EQ(FindProblemRow(ProblemSource::kScheduler, "SomethingNew", "m"), nullptr);
}

TEST(WayOut, HasTheNamesInPlaceOfTheCapitals) {
  const ProblemRow row{
      ProblemSource::kInit, "", "", "R", "M.", "see POD, CONTAINER of POD, CLAIMS"};
  EXPECT_EQ(WayOut(row, {.pod = "a", .container = "b", .claims = "c, d"}), "see a, b of a, c, d");
}

TEST(ProblemTable, TheReference_HasIt) {
  const Result<std::string> text = ReadFile(PSTRAIN_SOURCE_DIR "/docs/reference/problems.md");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_NE(text->find(WriteProblemTable()), std::string::npos) << "the table should read\n"
                                                                << WriteProblemTable();
}

}  // namespace
}  // namespace pstrain::job
