#include "local/history/run_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

AgentReading Reading(double steps) {
  AgentReading reading;
  reading.values = {{"steps", steps},
                    {"examples_committed", steps * 10},
                    {"examples_expected", 1000},
                    {"loss", 0.5}};
  return reading;
}

class RunRecorderTest : public testing::Test {
 protected:
  Result<RunRecorder> Open(bool resumed, RecorderOptions options = {}) {
    return RunRecorder::Open(*workspace_, "abc", resumed, 5, options);
  }
  std::vector<HistoryPoint> Points() {
    const auto points = ReadHistory(HistoryFile(workspace_->path(), "abc"));
    EXPECT_TRUE(points.ok()) << points.status().message();
    return points.ok() ? *points : std::vector<HistoryPoint>();
  }

  TempDir dir_;
  Result<Workspace> workspace_ = Workspace::Open(dir_.path(), "job");
};

TEST_F(RunRecorderTest, EachPointIsOnTheDiskAtOnce) {
  Result<RunRecorder> recorder = Open(false, {.csv = dir_.File("h.csv")});
  ASSERT_TRUE(recorder.ok()) << recorder.status().message();
  RunRecorder& open = *recorder;
  open.Observe(Reading(1), 1);
  open.Event("ps-0 ended with exit code 137; attempt 1 starts", 2);
  open.Event("waits", 3);
  EXPECT_EQ(Points().size(), 3U);
  const std::string csv = *ReadFile(dir_.File("h.csv"));
  EXPECT_THAT(csv, StartsWith(HistoryCsvHeader() + "\nprogress,1.0,0.05,1,10,0.5,"));
  EXPECT_EQ(open.ends().size(), 1U);
  EXPECT_TRUE(open.Problem().ok());
}

TEST_F(RunRecorderTest, OfAResumedRun_TheCourseGoesOn) {
  {
    auto recorder = Open(false, {.csv = dir_.File("h.csv")});
    recorder->Observe(Reading(1), 40);
  }
  {
    auto recorder = Open(true, {.csv = dir_.File("h.csv")});
    recorder->Observe(Reading(2), 2);
  }
  ASSERT_EQ(Points().size(), 2U);
  EXPECT_DOUBLE_EQ(Points()[1].seconds, 42);
  const std::string csv = *ReadFile(dir_.File("h.csv"));
  EXPECT_EQ(csv.find("kind"), csv.rfind("kind"));
  {
    auto recorder = Open(false, {.csv = dir_.File("h.csv")});
    recorder->Observe(Reading(3), 1);
  }
  EXPECT_EQ(Points().size(), 1U);
}

TEST_F(RunRecorderTest, ALineThatIsCut_IsLeftOut) {
  const std::string file = dir_.File("cut.jsonl");
  HistoryPoint point;
  ASSERT_TRUE(WriteFileAtomically(file, ToJsonLine(point) + "\n{\"kind\":\"pro").ok());
  const auto points = ReadHistory(file);
  ASSERT_TRUE(points.ok());
  EXPECT_EQ(points->size(), 1U);
  ASSERT_TRUE(WriteFileAtomically(file, "nothing\n").ok());
  EXPECT_THAT(ReadHistory(file).status().message(), HasSubstr("cut.jsonl:1"));
}

TEST_F(RunRecorderTest, WhereAFileCannotBeMade_SaysWhich) {
  EXPECT_THAT(Open(false, {.csv = dir_.File("away/h.csv")}).status().message(),
              HasSubstr("away/h.csv"));
  ASSERT_TRUE(WriteFileAtomically(dir_.File("file"), "").ok());
  EXPECT_THAT(Open(false, {.tensorboard = dir_.File("file")}).status().message(),
              HasSubstr("file"));
}

TEST_F(RunRecorderTest, WhereTheDiskIsFull_SaysSoAndGoesOn) {
  auto recorder = Open(false, {.csv = "/dev/full"});
  ASSERT_TRUE(recorder.ok()) << recorder.status().message();
  recorder->Observe(Reading(1), 1);
  recorder->Observe(Reading(2), 2);
  EXPECT_THAT(recorder->Problem().message(), HasSubstr("/dev/full"));
  EXPECT_EQ(Points().size(), 2U);
}

}  // namespace
}  // namespace pstrain::local
