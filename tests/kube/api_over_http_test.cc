// The client over the real transport against the fake apiserver: what only both together show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "operator/kube/api_client.h"
#include "operator/kube/watch.h"
#include "tests/kube/api_fixture.h"
#include "tests/kube/transport_fixture.h"
#include "tests/testing/fake_apiserver_http.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::FakeApiserver;
using pstrain::testing::HttpServerConnection;
using pstrain::testing::HttpServerRequest;
using pstrain::testing::RecordingPause;
using pstrain::testing::ServeApi;
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
