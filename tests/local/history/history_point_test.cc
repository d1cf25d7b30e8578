#include "local/history/history_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain::local {
namespace {

HistoryPoint Point() {
  HistoryPoint point;
  point.kind = PointKind::kEvaluation;
  point.seconds = 1.23456;
  point.epoch = 2.500049;
  point.steps = 9007199254740993;
  point.examples = 456;
  point.loss = 0.1234567891234;
  point.metrics = {{"auc", 0.75}, {"log_loss", 0.3}};
  return point;
}

TEST(HistoryPoint, IsReadAsItWasWritten) {
  const std::string line = ToJsonLine(Point());
  EXPECT_EQ(line, R"({"kind":"evaluation","seconds":1.235,"epoch":2.5,"steps":9007199254740993,)"
                  R"("examples":456,"loss":0.123456789,"auc":0.75,"log_loss":0.3})");
  const Result<HistoryPoint> read = FromJsonLine(line);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJsonLine(*read), line);
  EXPECT_EQ(read->steps, Point().steps);
}

TEST(HistoryPoint, AsCsv_HasAFieldForEachColumnOfTheHeader) {
  EXPECT_EQ(HistoryCsvHeader(),
            "kind,seconds,epoch,steps,examples,loss,auc,accuracy,log_loss,calibration,event");
  EXPECT_EQ(ToCsvLine(Point()),
            "evaluation,1.235,2.5,9007199254740993,456,0.123456789,0.75,,0.3,,");
  HistoryPoint event;
  event.kind = PointKind::kEvent;
  event.event = "it said \"no\", twice";
  EXPECT_EQ(ToCsvLine(event), "event,0.0,0.0,0,0,,,,,,\"it said \"\"no\"\", twice\"");
}

TEST(HistoryPoint, OfAnotherText_IsRefused) {
  for (const char* line : {"", "{}", "[1]", "{\"kind\":1}", "{\"kind\":\"other\"}", "kind"}) {
    EXPECT_FALSE(FromJsonLine(line).ok()) << line;
  }
}

}  // namespace
}  // namespace pstrain::local
