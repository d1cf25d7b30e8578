#include "operator/kube/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/operator/kube/api_fixture.h"

namespace pstrain::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Puts these lines into a watch from version 7 and tells what it made of them.
struct Watched {
  std::vector<std::string> events;
  WatchEnd end;
};
Watched WatchLines(const std::vector<std::string>& lines, std::size_t max_event_bytes = 1U << 20) {
  ApiFixture f;
  f.server().PassTime(1000);
  Watched watched;
  std::jthread writer([&] {
    ASSERT_TRUE(f.server().WaitForWatches("watch=true", 1));
    for (const std::string& line : lines) f.server().InjectLine(line);
    f.server().EndWatches();
  });
  WatchOptions options;
  options.resource_version = "700";
  options.max_event_bytes = max_event_bytes;
  watched.end =
      Watch(f.client(), PodResource(), options,
            [&](const WatchEvent& event) {
              if (event.type != WatchEventType::kBookmark) {
                watched.events.push_back(*event.object.Find("metadata")->Find("name")->AsString());
              }
              return OkStatus();
            },
            {});
  return watched;
}

std::string Line(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name +
         R"(","resourceVersion":")" + version + R"("}}})";
}

TEST(Watch, Events_AdvanceTheVersion) {
  const Watched w = WatchLines(
      {Line("ADDED", "a", "701"), Line("MODIFIED", "a", "702"), Line("DELETED", "a", "703")});
  EXPECT_THAT(w.events, ElementsAre("a", "a", "a"));
  EXPECT_EQ(w.end.resource_version, "703");
  EXPECT_FALSE(w.end.error.has_value());
}

TEST(Watch, Bookmark_AdvancesTheVersionOnly) {
  const Watched w = WatchLines({Line("BOOKMARK", "", "900")});
  EXPECT_TRUE(w.events.empty());
  EXPECT_EQ(w.end.resource_version, "900");
}

TEST(Watch, Quiet_KeepsTheVersion) { EXPECT_EQ(WatchLines({}).end.resource_version, "700"); }

TEST(Watch, ErrorEvent_EndsItWithItsStatus) {
  const Watched w = WatchLines(
      {Line("ADDED", "a", "701"),
       R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"x"}})"});
  ASSERT_TRUE(w.end.error.has_value());
  EXPECT_EQ(w.end.error->status.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(w.end.error->reason, "Expired");
  EXPECT_EQ(w.end.resource_version, "701");
}

TEST(Watch, MalformedLine_IsDataLoss) {
  for (const char* line : {"{", "[]", R"({"type":"ADDED"})", R"({"type":"NEWS","object":{}})",
                           R"({"type":"ADDED","object":{"metadata":{}}})"}) {
    const Watched w = WatchLines({Line("ADDED", "a", "701"), line});
    ASSERT_TRUE(w.end.error.has_value()) << line;
    EXPECT_EQ(w.end.error->status.code(), StatusCode::kDataLoss) << line;
    EXPECT_EQ(w.end.resource_version, "701") << line;
  }
}

TEST(Watch, HugeEvent_IsReadUpToTheLimit) {
  const std::string big(3U << 20, 'x');
  const std::string line = R"({"type":"ADDED","object":{"metadata":{"name":"a",)"
                           R"("resourceVersion":"701"},"data":")" +
                           big + "\"}}";
  EXPECT_THAT(WatchLines({line}, 4U << 20).events, ElementsAre("a"));
  const Watched w = WatchLines({line}, 1U << 20);
  EXPECT_THAT(w.end.error->status.message(), HasSubstr("longer than 1048576"));
}

TEST(Watch, Refused_ReturnsTheServersError) {
  ApiFixture f;
  f.server().ExpireVersionsQuietly();
  const WatchEnd end = Watch(f.client(), PodResource(), {.resource_version = "5"},
                             [](const WatchEvent&) { return OkStatus(); }, {});
  ASSERT_TRUE(end.error.has_value());
  EXPECT_EQ(end.error->status.code(), StatusCode::kOutOfRange);
  EXPECT_THAT(f.server().requests(),
              ElementsAre("GET /api/v1/pods?watch=true&allowWatchBookmarks=true"
                          "&resourceVersion=5&timeoutSeconds=270"));
}

}  // namespace
}  // namespace pstrain::kube
