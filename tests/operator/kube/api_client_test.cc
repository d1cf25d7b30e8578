#include "operator/kube/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "operator/kube/client_metrics.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::StatusBody;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ObjectKey kKey{"ns", "a"};

TEST(ApiClient, Get_WhenAbsent_IsNotFoundWithTheServersReason) {
  ApiFixture f;
  const auto got = f.client().Get(PodResource(), kKey, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().status.code(), StatusCode::kNotFound);
  EXPECT_EQ(got.error().http_status, 404);
  EXPECT_EQ(got.error().reason, "NotFound");
  EXPECT_THAT(got.error().status.message(), HasSubstr("GET pods ns/a"));
  EXPECT_EQ(f.server().requests().size(), 1U);
}

TEST(ApiClient, Create_WhenFree_ReturnsWhatIsStored) {
  ApiFixture f;
  const auto created = f.client().Create(PodResource(), "ns", TestObject("a"), {});
  ASSERT_TRUE(created.ok());
  EXPECT_FALSE(DecodeObjectMeta(*created)->uid.empty());
  EXPECT_TRUE(f.server().Find(PodResource(), kKey).has_value());
}

TEST(ApiClient, Create_WhenTaken_IsAlreadyExists) {
  ApiFixture f;
  f.server().Put(PodResource(), TestObject("a", "other", "uid of another"));
  for (const char* owner : {"", "uid of ours"}) {
    const auto created = f.client().Create(PodResource(), "ns", TestObject("a", "a", owner), {});
    ASSERT_FALSE(created.ok());
    EXPECT_EQ(created.error().status.code(), StatusCode::kAlreadyExists);
  }
}

TEST(ApiClient, Create_WhenTheReplyIsLost_FindsItsOwnObject) {
  ApiFixture f;
  f.transport().BreakNext(HttpMethod::kPost, /*after_it_was_done=*/true);
  const auto created = f.client().Create(PodResource(), "ns", TestObject("a", "a", "job"), {});
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  EXPECT_EQ(DecodeObjectMeta(*created)->Controller()->uid, "job");
  EXPECT_EQ(f.server().All(PodResource()).size(), 1U);
}

TEST(ApiClient, Create_WhenTheNameIsLeftToTheServer_IsRefused) {
  ApiFixture f;
  Json object = TestObject("");
  object.FindMutable("metadata")->Set("generateName", Json::String("a-"));
  const auto created = f.client().Create(PodResource(), "ns", object, {});
  EXPECT_EQ(created.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(f.server().requests().empty());
}

TEST(ApiClient, Replace_WhenChangedMeanwhile_IsAbortedAndNotTriedAgain) {
  ApiFixture f;
  Json object = TestObject("a");
  object.FindMutable("metadata")->Set("resourceVersion", Json::String("1"));
  f.server().Put(PodResource(), TestObject("a"));
  const auto replaced = f.client().Replace(PodResource(), kKey, object, {});
  EXPECT_EQ(replaced.status().code(), StatusCode::kAborted);
  EXPECT_TRUE(f.pause().pauses().empty());
}

TEST(ApiClient, Patch_OfEachKind_SaysSo) {
  ApiFixture f;
  f.server().Put(PodResource(), TestObject("a"));
  Json patch = Json::Object();
  patch.Set("status", Json::String("done"));
  EXPECT_TRUE(f.client().Patch(PodResource(), kKey, patch, {.subresource = "status"}, {}).ok());
  EXPECT_EQ(*f.server().Find(PodResource(), kKey)->Find("status")->AsString(), "done");
  EXPECT_TRUE(f.client()
                  .Patch(PodResource(), {"ns", "new"}, patch,
                         {.kind = PatchKind::kApply, .field_manager = "me", .force = true}, {})
                  .ok());
  EXPECT_EQ(
      f.client().Patch(PodResource(), kKey, patch, {.kind = PatchKind::kApply}, {}).status().code(),
      StatusCode::kInvalidArgument);
  EXPECT_EQ(f.client()
                .Patch(PodResource(), kKey, Json::Array(), {.kind = PatchKind::kJson}, {})
                .status()
                .code(),
            StatusCode::kUnimplemented);  // the fake knows no JSON patch: its content type is told
  EXPECT_THAT(f.server().requests(),
              ElementsAre("PATCH /api/v1/namespaces/ns/pods/a/status",
                          "PATCH /api/v1/namespaces/ns/pods/new?fieldManager=me&force=true",
                          "PATCH /api/v1/namespaces/ns/pods/a"));
}

TEST(ApiClient, Delete_WhenAnotherHasTheName_IsAborted) {
  ApiFixture f;
  f.server().Put(PodResource(), TestObject("a"));
  const auto wrong = f.client().Delete(PodResource(), kKey, {.uid = "another"}, {});
  EXPECT_EQ(wrong.status().code(), StatusCode::kAborted);
  const std::string uid = DecodeObjectMeta(*f.server().Find(PodResource(), kKey))->uid;
  EXPECT_TRUE(f.client().Delete(PodResource(), kKey, {.uid = uid}, {}).ok());
  EXPECT_FALSE(f.server().Find(PodResource(), kKey).has_value());
  EXPECT_EQ(f.client().Delete(PodResource(), kKey, {}, {}).status().code(), StatusCode::kNotFound);
}

TEST(ApiClient, Any_WhenTheServerIsBusy_WaitsAsItSaysElseDoubling) {
  ApiFixture f;
  f.server().FailNext("GET", {429, StatusBody(429, "TooManyRequests", "later"), 3});
  f.server().FailNext("GET", {503, "", {}}, 2);
  f.server().Put(PodResource(), TestObject("a"));
  EXPECT_TRUE(f.client().Get(PodResource(), kKey, {}).ok());
  EXPECT_THAT(f.pause().pauses(), ElementsAre(seconds(3), seconds(1), seconds(2)));
}

TEST(ApiClient, Any_WhenTheServerHasTooManyRequests_AllOthersWaitToo) {
  testing::FakeApiserver server;
  testing::InProcessTransport transport(server);
  RateLimiter limiter({.per_second = 0, .longest_hold = std::chrono::milliseconds(50)});
  testing::RecordingPause pause;
  ApiClient client(transport, limiter, pause, {.retries = 0});
  server.FailNext("GET", {429, StatusBody(429, "TooManyRequests", "later"), 600});
  const RealClock clock;
  const std::chrono::nanoseconds begin = clock.Now();
  EXPECT_FALSE(client.Get(PodResource(), kKey, {}).ok());
  EXPECT_EQ(client.Get(PodResource(), kKey, {}).status().code(), StatusCode::kNotFound);
  EXPECT_GE(clock.Now() - begin, std::chrono::milliseconds(50));
}

TEST(ApiClient, Any_WhenTheServerStaysBusy_GivesUpAfterThreeRetries) {
  ApiFixture f;
  f.server().FailNext("GET", {503, "upstream is away", {}}, 100);
  const auto got = f.client().Get(PodResource(), kKey, {});
  EXPECT_EQ(got.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(got.status().message(), HasSubstr("upstream is away"));
  EXPECT_EQ(f.server().requests().size(), 4U);
}

TEST(ApiClient, Any_WhenToldToWaitForLong_ReturnsTheErrorWithTheTime) {
  ApiFixture f;
  f.server().FailNext("GET", {429, StatusBody(429, "TooManyRequests", "later"), 600});
  const auto got = f.client().Get(PodResource(), kKey, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(got.error().retry_after, seconds(600));
  EXPECT_TRUE(got.error().IsTransient());
  EXPECT_TRUE(f.pause().pauses().empty());
}

TEST(ApiClient, Any_WhenTheServerFails_IsNotTriedAgain) {
  for (const int status : {400, 401, 403, 422, 500}) {
    ApiFixture f;
    f.server().FailNext("GET", {status, StatusBody(status, "Some", "why"), {}}, 2);
    const auto got = f.client().Get(PodResource(), kKey, {});
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().http_status, status);
    EXPECT_EQ(f.server().requests().size(), 1U);
  }
}

TEST(ApiClient, Any_WhenTheConnectionBreaks_IsTriedAgain) {
  ApiFixture f;
  f.server().Put(PodResource(), TestObject("a"));
  f.transport().BreakNext(HttpMethod::kGet, false, 3);
  EXPECT_TRUE(f.client().Get(PodResource(), kKey, {}).ok());
  EXPECT_THAT(f.pause().pauses(), ElementsAre(milliseconds(500), seconds(1), seconds(2)));
}

TEST(ApiClient, Any_WhenStopped_EndsWithoutRetry) {
  ApiFixture f;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(f.client().Get(PodResource(), kKey, stop.get_token()).status().code(),
            StatusCode::kCancelled);
}

TEST(ApiClient, Any_IsCountedUnderClientGosNames) {
  ClientMetrics metrics("host:1");
  ApiFixture f({.metrics = &metrics});
  f.transport().BreakNext(HttpMethod::kGet, false, 1);
  EXPECT_FALSE(f.client().Get(PodResource(), kKey, {}).ok());
  MetricsRegistry registry;
  registry.Register([&] { return metrics.Collect(); });
  const std::string page = registry.Scrape();
  EXPECT_THAT(
      page,
      HasSubstr(R"(rest_client_requests_total{code="<error>",host="host:1",method="GET"} 1)"));
  EXPECT_THAT(page,
              HasSubstr(R"(rest_client_requests_total{code="404",host="host:1",method="GET"} 1)"));
  EXPECT_THAT(
      page, HasSubstr(R"(rest_client_request_duration_seconds_count{host="host:1",verb="GET"} 2)"));
}

std::vector<std::string> ListNames(ApiFixture& f, const ListOptions& options, Status& status) {
  std::vector<std::string> names;
  const auto end = f.client().List(PodResource(), options,
                                   [&](const Json& object) {
                                     names.push_back(DecodeObjectMeta(object)->key.name);
                                     return OkStatus();
                                   },
                                   {});
  status = end.status();
  return names;
}

/// Keeps what it gets.
class TextSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    text += bytes;
    return OkStatus();
  }
  std::string text;
};

TEST(ApiClient, Text_OfAPod_ComesAsItIsAndOnce) {
  ApiFixture f;
  const std::string path = "/api/v1/namespaces/ns/pods/a/log";
  f.server().PutPage(path, "no JSON\n");
  TextSink sink;
  EXPECT_TRUE(f.client().StreamText(path + "?tailLines=1", sink, {}).ok());
  EXPECT_EQ(sink.text, "no JSON\n");
  EXPECT_EQ(*f.client().GetText(path, seconds(1), {}), "no JSON\n");
  f.server().FailNext(path, {503, StatusBody(503, "ServiceUnavailable", "no route"), {}}, 2);
  EXPECT_EQ(f.client().GetText(path, seconds(1), {}).error().Words(), "no route");
  EXPECT_EQ(f.client().StreamText(path, sink, {}).error().Words(), "no route");
  EXPECT_EQ(f.server().requests().size(), 4U) << "none is tried again";
}

TEST(ApiClient, List_WhenLongerThanAPage_GoesThroughAllPages) {
  ApiFixture f;
  for (const char* name : {"a", "b", "c", "d", "e"})
    f.server().Put(PodResource(), TestObject(name));
  Status status;
  EXPECT_THAT(ListNames(f, {.page_size = 2}, status), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(f.server().CountRequests("limit=2"), 3);
}

TEST(ApiClient, List_WithSelection_AsksForItEncoded) {
  ApiFixture f;
  f.server().Put(PodResource(), TestObject("a", "x"));
  f.server().Put(PodResource(), TestObject("b", "y"));
  Status status;
  EXPECT_THAT(ListNames(f, {.selection = {.name_space = "ns", .label_selector = "app=y"}}, status),
              ElementsAre("b"));
  EXPECT_THAT(f.server().requests(),
              ElementsAre("GET /api/v1/namespaces/ns/pods?labelSelector=app%3Dy&limit=500"));
}

TEST(ApiClient, List_WhenTheTokenExpires_IsOutOfRange) {
  ApiFixture f;
  for (const char* name : {"a", "b", "c"}) f.server().Put(PodResource(), TestObject(name));
  f.server().FailNext("continue=", {410, StatusBody(410, "Expired", "too old"), {}});
  Status status;
  EXPECT_THAT(ListNames(f, {.page_size = 2}, status), ElementsAre("a", "b"));
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
}

TEST(ApiClient, List_WhenTheVisitorFails_ReturnsItsError) {
  ApiFixture f;
  f.server().Put(PodResource(), TestObject("a"));
  const auto end =
      f.client().List(PodResource(), {}, [](const Json&) { return InternalError("enough"); }, {});
  EXPECT_EQ(end.status().code(), StatusCode::kInternal);
}

TEST(ApiClient, List_WhenAPageIsNotWhole_IsDataLoss) {
  for (const char* page : {R"({"items":[{"metadata":{}})", R"({"items":[]})"}) {
    ApiFixture f;
    f.server().FailNext("GET", {200, page, {}});
    const auto end = f.client().List(PodResource(), {}, [](const Json&) { return OkStatus(); }, {});
    EXPECT_EQ(end.status().code(), StatusCode::kDataLoss) << page;
  }
}

}  // namespace
}  // namespace pstrain::kube
