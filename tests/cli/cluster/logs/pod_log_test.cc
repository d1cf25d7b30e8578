#include "cli/cluster/logs/pod_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "tests/cli/cluster/session_fixture.h"

namespace pstrain::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PodLog, Target_AsksForTheContainerWithTimeStamps) {
  PodLogRequest request{.name_space = "ns", .pod = "p", .container = "main"};
  EXPECT_EQ(LogTarget(request), "/api/v1/namespaces/ns/pods/p/log?timestamps=true&container=main");
  request.follow = true;
  request.tail = 7;
  request.since = std::chrono::minutes(2);
  EXPECT_THAT(LogTarget(request), HasSubstr("&follow=true&tailLines=7&sinceSeconds=120"));
  request.since_time = "2026-01-01T00:00:00Z";
  EXPECT_THAT(LogTarget(request), HasSubstr("&sinceTime=2026-01-01T00%3A00%3A00Z"));
  EXPECT_THAT(LogTarget(request), Not(HasSubstr("tailLines")));
}

/// Answers each stream with the next piece of a log and the next status.
class ScriptedTransport final : public kube::Transport {
 public:
  struct Part {
    std::string text;
    Status end;
  };
  Result<kube::HttpReply> Send(const kube::HttpRequest&, const std::stop_token&) override {
    return UnavailableError("not asked for");
  }
  Result<kube::HttpReply> Stream(const kube::HttpRequest& request, kube::ByteSink& sink,
                                 const std::stop_token&) override {
    targets.push_back(request.target);
    if (parts.empty()) return UnavailableError("connection refused");
    const Part part = parts.front();
    parts.pop_front();
    PSTRAIN_RETURN_IF_ERROR(sink.Write(part.text));
    if (!part.end.ok()) return part.end;
    return kube::HttpReply{200, "text/plain", {}, ""};
  }
  std::deque<Part> parts;
  std::vector<std::string> targets;
};

class PodLogTest : public SessionFixture {
 protected:
  std::optional<kube::ApiError> Read(bool follow) {
    return ReadPodLog(own_, {.name_space = "ns", .pod = "p", .follow = follow, .tail = 10},
                      [this](const LogLine& line) {
                        lines_.push_back(line.text);
                        return true;
                      },
                      {});
  }
  ScriptedTransport transport_;
  kube::ApiClient client_{transport_, api_.limiter(), api_.pause(), {}};
  Session own_{.client = client_,
               .pause = pause_,
               .clock = clock_,
               .name_space = "ns",
               .out = {},
               .tell = {}};
  std::vector<std::string> lines_;
};

TEST_F(PodLogTest, Follow_AfterABreak_GoesOnBehindTheLastLine) {
  transport_.parts = {
      {"2026-01-01T00:00:01Z a\n2026-01-01T00:00:02Z b\n2026-01-01T0", UnavailableError("reset")},
      {"2026-01-01T00:00:02Z b\n2026-01-01T00:00:03Z c\n", DeadlineExceededError("silent")},
      {"2026-01-01T00:00:03Z c\n2026-01-01T00:00:04Z d", OkStatus()}};
  EXPECT_FALSE(Read(true));
  EXPECT_THAT(lines_, ElementsAre("a", "b", "c", "d"));
  ASSERT_EQ(transport_.targets.size(), 3U);
  EXPECT_THAT(transport_.targets[0], HasSubstr("tailLines=10"));
  EXPECT_THAT(transport_.targets[1], HasSubstr("sinceTime=2026-01-01T00%3A00%3A02Z"));
  EXPECT_THAT(transport_.targets[2], HasSubstr("sinceTime=2026-01-01T00%3A00%3A03Z"));
}

TEST_F(PodLogTest, Follow_WhenTheServerStaysAway_EndsAfterAMinute) {
  transport_.parts = {{"2026-01-01T00:00:01Z a\n", UnavailableError("reset")}};
  const auto error = Read(true);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status.code(), StatusCode::kUnavailable);
  EXPECT_GE(clock_.Now(), std::chrono::seconds(60));
  EXPECT_LE(clock_.Now(), std::chrono::seconds(70));
}

TEST_F(PodLogTest, Read_WithoutFollow_IsTriedOnce) {
  EXPECT_TRUE(Read(false));
  EXPECT_EQ(transport_.targets.size(), 1U);
}

}  // namespace
}  // namespace pstrain::cluster
