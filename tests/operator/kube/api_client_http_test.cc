// The client over the real transport against the fake apiserver: what only both together show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "operator/kube/api_client.h"
#include "operator/kube/json_fields.h"
#include "operator/kube/watch.h"
#include "tests/operator/kube/api_fixture.h"
#include "tests/operator/kube/http/transport_fixture.h"
#include "tests/testing/fake_apiserver_http.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::FakeApiserver;
using pstrain::testing::HttpServerConnection;
using pstrain::testing::HttpServerRequest;
using pstrain::testing::RecordingPause;
using pstrain::testing::ServeApi;
using pstrain::testing::StatusBody;
using ::testing::ElementsAre;

TEST(ApiOverHttp, Create_WhenConnectionsWentStale_HappensExactlyOnce) {
  FakeApiserver api;
  const auto serve = ServeApi(api);
  // Every second request of a connection meets its end: before it is done, or after.
  std::atomic<int> cuts{0};
  TransportFixture fixture([&](const HttpServerRequest& request, HttpServerConnection& connection) {
    if (request.number_on_connection < 2) return serve(request, connection);
    if (cuts.fetch_add(1) % 2 == 1) {
      api.Handle({request.method, request.target, "application/json", request.body});
    }
    connection.Reset();
  });
  RateLimiter limiter({});
  RecordingPause pause;
  ApiClient client(fixture.transport(), limiter, pause, {});
  constexpr int kObjects = 30;
  for (int i = 0; i < kObjects; ++i) {
    Json object = TestObject("a" + std::to_string(i), "a", "owner");
    object.Set("data", Json::String(std::string(100'000, 'x')));
    const auto created = client.Create(PodResource(), "ns", object, {});
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  EXPECT_EQ(api.All(PodResource()).size(), std::size_t{kObjects});
  EXPECT_GT(cuts.load(), 5);
}

TEST(ApiOverHttp, Calls_OpenNoMoreConnectionsThanPermits) {
  FakeApiserver api;
  TransportFixture fixture(ServeApi(api));
  constexpr int kPermits = 4;
  RateLimiter limiter({.per_second = 1e6, .burst = 1'000'000, .permits = kPermits});
  RealPause pause;
  ApiClient client(fixture.transport(), limiter, pause, {});
  std::atomic<int> created{0};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 16; ++caller) {
      callers.emplace_back([&, caller] {
        for (int i = 0; i < 10; ++i) {
          const std::string name = "a" + std::to_string(caller) + "-" + std::to_string(i);
          if (client.Create(PodResource(), "ns", TestObject(name), {}).ok()) {
            created.fetch_add(1);
          }
        }
      });
    }
  }
  EXPECT_EQ(created.load(), 160);
  // The library gives a connection back a moment after the reply; one more may be opened meanwhile.
  EXPECT_LE(fixture.server().connections(), 2 * kPermits);
}

TEST(ApiOverHttp, ListAndWatch_WhenChunksSplitFrames_SeeEverything) {
  FakeApiserver api;
  api.Put(PodResource(), TestObject("a"));
  api.Put(PodResource(), TestObject("b"));
  TransportFixture fixture(ServeApi(api, {.chunk_bytes = 7}));
  RateLimiter limiter({});
  RealPause pause;
  ApiClient client(fixture.transport(), limiter, pause, {});
  std::vector<std::string> names;
  const auto end = client.List(PodResource(), {.page_size = 1},
                               [&](const Json& object) {
                                 names.push_back(DecodeObjectMeta(object)->key.name);
                                 return OkStatus();
                               },
                               {});
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_THAT(names, ElementsAre("a", "b"));

  Json huge = TestObject("c");
  huge.Set("data", Json::String(std::string(300'000, 'x')));
  api.Put(PodResource(), huge);
  std::stop_source stop;
  const WatchEnd watched = Watch(
      client, PodResource(), {.resource_version = end->resource_version},
      [&](const WatchEvent& event) {
        names.push_back(DecodeObjectMeta(event.object)->key.name);
        api.EndWatches();
        return OkStatus();
      },
      stop.get_token());
  EXPECT_FALSE(watched.error.has_value());
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
}

TEST(ApiOverHttp, Watch_WhenAnEventIsHuge_SeesItWholeInOneChunkOrInMany) {
  for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{5000}}) {
    FakeApiserver api;
    TransportFixture fixture(ServeApi(api, {.chunk_bytes = chunk_bytes}));
    RateLimiter limiter({});
    RealPause pause;
    ApiClient client(fixture.transport(), limiter, pause, {});
    Json huge = TestObject("huge");
    const std::string data(3U << 20, 'x');
    huge.Set("data", Json::String(data));
    api.Put(PodResource(), huge);
    bool whole = false;
    const WatchEnd end = Watch(client, PodResource(), {.resource_version = "1"},
                               [&](const WatchEvent& event) {
                                 whole = TextOrEmpty(event.object, "data") == data;
                                 api.EndWatches();
                                 return OkStatus();
                               },
                               {});
    EXPECT_FALSE(end.error.has_value()) << end.error->status.ToString();
    EXPECT_TRUE(whole) << chunk_bytes;
  }
}

TEST(ApiOverHttp, Watch_WhenItsVersionIsTooOld_SaysSoAsAStatusAndInTheStream) {
  for (const bool in_stream : {false, true}) {
    FakeApiserver api;
    TransportFixture fixture(ServeApi(api));
    RateLimiter limiter({});
    RealPause pause;
    ApiClient client(fixture.transport(), limiter, pause, {});
    api.Put(PodResource(), TestObject("a"));
    if (!in_stream) api.ExpireVersionsQuietly();
    const WatchEnd end = Watch(client, PodResource(), {.resource_version = "1"},
                               [&](const WatchEvent&) {
                                 api.ExpireVersions();
                                 return OkStatus();
                               },
                               {});
    ASSERT_TRUE(end.error.has_value());
    EXPECT_EQ(end.error->status.code(), StatusCode::kOutOfRange) << in_stream;
    EXPECT_EQ(end.error->reason, "Expired");
  }
}

TEST(ApiOverHttp, Create_WhenTheServerIsBusy_WaitsAsItSaysAndSendsTheBodyAgain) {
  FakeApiserver api;
  TransportFixture fixture(ServeApi(api));
  RateLimiter limiter({});
  RecordingPause pause;
  ApiClient client(fixture.transport(), limiter, pause, {});
  api.FailNext("POST", {429, StatusBody(429, "TooManyRequests", "later"), 3}, 2);
  Json object = TestObject("a");
  object.Set("data", Json::String(std::string(100'000, 'x')));
  ASSERT_TRUE(client.Create(PodResource(), "ns", object, {}).ok());
  EXPECT_THAT(pause.pauses(), ElementsAre(std::chrono::seconds(3), std::chrono::seconds(3)));
  EXPECT_EQ(api.CountRequests("POST"), 3);
  EXPECT_EQ(TextOrEmpty(*api.Find(PodResource(), {"ns", "a"}), "data").size(), 100'000U);
}

TEST(ApiOverHttp, Watch_WhenTheServerDies_EndsAsUnavailable) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    connection.Chunk(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})"
                     "\n{\"type\":");
    connection.Close();
  });
  RateLimiter limiter({});
  RealPause pause;
  ApiClient client(fixture.transport(), limiter, pause, {});
  const WatchEnd end = Watch(client, PodResource(), {.resource_version = "1"},
                             [](const WatchEvent&) { return OkStatus(); }, {});
  ASSERT_TRUE(end.error.has_value());
  EXPECT_EQ(end.error->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(end.resource_version, "7");
}

}  // namespace
}  // namespace pstrain::kube
