#include "cli/report/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

using local::HistoryPoint;
using local::PointKind;
using testing::HasSubstr;
using testing::Not;

HistoryPoint Point(PointKind kind, double seconds) {
  HistoryPoint point;
  point.kind = kind;
  point.seconds = seconds;
  point.examples = static_cast<std::int64_t>(seconds * 1000);
  return point;
}

ReportFacts Facts() {
  ReportFacts facts{"a<b>", "run1", {}, {}};
  for (int i = 0; i < 5; ++i) {
    facts.points.push_back(Point(PointKind::kProgress, i));
    facts.points.back().loss = 1.0 / (i + 1);
  }
  facts.points.push_back(Point(PointKind::kEvent, 5));
  facts.points.back().event = "ps-0 ended with <exit code> 137";
  facts.points.push_back(Point(PointKind::kEvaluation, 6));
  facts.points.back().metrics = {{"auc", 0.9}, {"log_loss", 0.3}};
  facts.report = *ParseJson(
      R"({"state":"Succeeded","seconds":6.5,"steps":12345,"ps":[{"shards":4,"bytes_received":10,)"
      R"("bytes_sent":2048}],"workers":[{"examples":6000}]})");
  return facts;
}

TEST(ReportPage, HasCurvesLoadEndsAndNumbers) {
  const std::string page = ReportPage(Facts());
  for (const char* part : {"Succeeded after 7s", "<figcaption>Loss</figcaption>",
                           "<figcaption>Evaluation</figcaption>", "Load of each ps",
                           "Examples of each worker", "12,345", "class=\"mark\"", "0.9000"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, HasSubstr("ps-0 ended with &lt;exit code&gt; 137"));
  EXPECT_THAT(page, HasSubstr("a&lt;b&gt;"));
}

TEST(ReportPage, NeedsNeitherNetworkNorScript) {
  const std::string page = ReportPage(Facts());
  for (const char* part : {"http", "src=", "href=", "<script", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(ReportPage, OfARunThatIsNotOver_SaysSo) {
  ReportFacts facts = Facts();
  facts.report = Json::Null();
  EXPECT_THAT(ReportPage(facts), HasSubstr("This run is going on"));
  facts.points.clear();
  EXPECT_THAT(ReportPage(facts), HasSubstr("</html>"));
}

}  // namespace
}  // namespace pstrain
