#include "operator/controller/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/manual_clock.h"
#include "operator/kube/json_fields.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::StatusBody;
using ::testing::HasSubstr;

class EventRecorderTest : public ::testing::Test {
 protected:
  void Start(std::size_t max_series = 4096) {
    recorder_ = std::make_unique<EventRecorder>(
        f_.client(), clock_,
        EventRecorder::Options{
            .controller = "test/operator", .instance = "pod-1", .max_series = max_series});
  }
  /// Writes everything and ends the recorder; the events in the server.
  std::vector<Json> Finish() {
    recorder_->Drain(std::chrono::seconds(10));
    return f_.server().All(EventResource());
  }
  static Event Warning(const std::string& reason, const std::string& note = "do this") {
    return {{"v1", "Pod", {"ns", "a"}, "uid-a"}, EventType::kWarning, reason, "Create", note};
  }
  bool WaitForRequests(int count) { return f_.server().WaitForRequests("/events", count); }

  ApiFixture f_;
  ManualClock clock_{std::chrono::hours(1)};
  std::unique_ptr<EventRecorder> recorder_;
};

TEST_F(EventRecorderTest, EventsThatNameDifferentThings_AreNoSeries) {
  Start();
  for (const char* pod : {"worker-0", "worker-1", "worker-0"}) {
    Event event = Warning("ReplicaFailed", pod);
    event.distinct = pod;
    recorder_->Record(event);
  }
  EXPECT_EQ(Finish().size(), 2U);
}

TEST_F(EventRecorderTest, Event_CarriesAllThatTheApiWants) {
  Start();
  recorder_->Record(Warning("BadImage", "use another image"));
  const auto events = Finish();
  ASSERT_EQ(events.size(), 1U);
  const Json& event = events[0];
  EXPECT_EQ(TextOrEmpty(event, "reason"), "BadImage");
  EXPECT_EQ(TextOrEmpty(event, "action"), "Create");
  EXPECT_EQ(TextOrEmpty(event, "type"), "Warning");
  EXPECT_EQ(TextOrEmpty(event, "note"), "use another image");
  EXPECT_EQ(TextOrEmpty(event, "reportingController"), "test/operator");
  EXPECT_EQ(TextOrEmpty(event, "reportingInstance"), "pod-1");
  EXPECT_THAT(TextOrEmpty(event, "eventTime"), HasSubstr(".000000Z"));
  EXPECT_EQ(TextOrEmpty(*event.Find("regarding"), "uid"), "uid-a");
  EXPECT_EQ(TextOrEmpty(*event.Find("metadata"), "namespace"), "ns");
  EXPECT_EQ(event.Find("series"), nullptr);
}

TEST_F(EventRecorderTest, Repeats_AreCountedInOneEvent) {
  Start();
  for (int i = 0; i < 3; ++i) recorder_->Record(Warning("BadImage", std::to_string(i)));
  recorder_->Record(Warning("OutOfQuota"));
  const auto events = Finish();
  ASSERT_EQ(events.size(), 2U);
  for (const Json& event : events) {
    const Json* count = FindPath(event, {"series", "count"});
    if (TextOrEmpty(event, "reason") == "BadImage") {
      ASSERT_NE(count, nullptr);
      EXPECT_EQ(count->AsInt64(), 3);
      EXPECT_EQ(TextOrEmpty(event, "note"), "0");
    } else {
      EXPECT_EQ(count, nullptr);
    }
  }
}

TEST_F(EventRecorderTest, RepeatsWithinThePeriod_CostOneCall) {
  Start();
  for (int i = 0; i < 100; ++i) recorder_->Record(Warning("BadImage"));
  const auto events = Finish();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(FindPath(events[0], {"series", "count"})->AsInt64(), 100);
  EXPECT_EQ(f_.server().CountRequests("/events"), 2) << "one POST and one PATCH";
}

TEST_F(EventRecorderTest, Repeat_AfterThePeriod_IsWrittenAtOnce) {
  Start();
  recorder_->Record(Warning("BadImage"));
  ASSERT_TRUE(WaitForRequests(1));
  clock_.Advance(std::chrono::seconds(10));
  recorder_->Record(Warning("BadImage"));
  EXPECT_TRUE(WaitForRequests(2));
  EXPECT_EQ(Finish().size(), 1U);
}

TEST_F(EventRecorderTest, Repeat_AfterTheWindow_IsANewEvent) {
  Start();
  recorder_->Record(Warning("BadImage"));
  ASSERT_TRUE(WaitForRequests(1));
  clock_.Advance(std::chrono::minutes(7));
  recorder_->Record(Warning("BadImage"));
  EXPECT_EQ(Finish().size(), 2U);
}

TEST_F(EventRecorderTest, Repeat_OfAnEventThatIsGone_IsANewEvent) {
  Start();
  recorder_->Record(Warning("BadImage"));
  ASSERT_TRUE(WaitForRequests(1));
  const auto key = DecodeObjectMeta(f_.server().All(EventResource())[0])->key;
  f_.server().Remove(EventResource(), key);
  recorder_->Record(Warning("BadImage"));
  EXPECT_EQ(Finish().size(), 1U);
}

TEST_F(EventRecorderTest, CountOfWhatIsForgotten_IsWrittenBefore) {
  Start(/*max_series=*/1);
  for (const char* reason : {"A", "A", "A", "B"}) recorder_->Record(Warning(reason));
  for (const Json& event : Finish()) {
    const Json* count = FindPath(event, {"series", "count"});
    if (TextOrEmpty(event, "reason") == "B") continue;
    ASSERT_NE(count, nullptr);
    EXPECT_EQ(count->AsInt64(), 3);
  }
}

TEST_F(EventRecorderTest, Memory_IsBounded) {
  Start(/*max_series=*/2);
  for (const char* reason : {"A", "B", "C", "A"}) recorder_->Record(Warning(reason));
  EXPECT_EQ(Finish().size(), 4U) << "A was forgotten for C";
}

TEST_F(EventRecorderTest, LongTexts_AreCheckpointBetweenCharacters) {
  Start();
  std::string note;
  while (note.size() < 2000) note += "\u00e4";
  recorder_->Record(Warning(std::string(200, 'R'), "x" + note));
  const auto events = Finish();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(TextOrEmpty(events[0], "note").size(), 1023U);
  EXPECT_EQ(TextOrEmpty(events[0], "reason").size(), 128U);
}

TEST_F(EventRecorderTest, Failures_AreCountedAndDoNotStopTheRest) {
  f_.server().FailNext("POST", {403, StatusBody(403, "Forbidden", "no"), {}});
  Start();
  recorder_->Record(Warning("First"));
  recorder_->Record(Warning("Second"));
  EXPECT_EQ(Finish().size(), 1U);
  recorder_->Record(Warning("AfterTheEnd"));
  MetricsRegistry registry;
  registry.Register([this] { return recorder_->Collect(); });
  const std::string page = registry.Scrape();
  for (const char* result : {"created", "dropped", "failed"}) {
    EXPECT_THAT(
        page, HasSubstr("pstrain_operator_events_total{result=\"" + std::string(result) + "\"} 1"));
  }
}

}  // namespace
}  // namespace pstrain::kube
