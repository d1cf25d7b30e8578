#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/kube/api_error.h"
#include "operator/kube/object_meta.h"
#include "operator/kube/resource.h"

namespace pstrain::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Json Parse(const char* text) { return ParseJson(text).value(); }

TEST(Resource, Target_IsPercentEncoded) {
  EXPECT_EQ(RequestTarget(PodResource(), {"ns", "a"}, "status", {}),
            "/api/v1/namespaces/ns/pods/a/status");
  EXPECT_EQ(RequestTarget(NodeResource(), {"", "n"}, "", {}), "/api/v1/nodes/n");
  EXPECT_EQ(RequestTarget(LeaseResource(), {"ns", ""}, "", {{"a b", "c=d&e"}, {"f", ""}}),
            "/apis/coordination.k8s.io/v1/namespaces/ns/leases?a%20b=c%3Dd%26e&f=");
  EXPECT_EQ(RequestTarget(PodResource(), {"../x", ".."}, "", {}),
            "/api/v1/namespaces/..%2Fx/pods/%2E%2E");
  EXPECT_EQ(RequestTarget(PodResource(), {"", ""}, "", {}), "/api/v1/pods");
}

TEST(ObjectKey, Text_ReadsBack) {
  for (const ObjectKey& key : {ObjectKey{"ns", "a"}, ObjectKey{"", "a"}}) {
    EXPECT_EQ(ObjectKey::Parse(key.ToString()), key);
  }
}

TEST(ObjectMeta, Full_KeepsWhatWeUse) {
  const auto meta = DecodeObjectMeta(Parse(R"({"metadata":{"name":"a","namespace":"ns","uid":"u",
      "resourceVersion":"7","generation":3,"creationTimestamp":"2026-01-31T12:00:00Z",
      "deletionTimestamp":"2026-01-31T12:00:30Z","labels":{"l":"1"},
      "annotations":{"pstrain.dev/x":"1","kubectl.kubernetes.io/last":"long"},
      "managedFields":[{"manager":"m"}],"finalizers":["f"],
      "ownerReferences":[{"kind":"A","name":"x","uid":"1"},
        {"apiVersion":"v1","kind":"B","name":"y","uid":"2","controller":true}]}})"),
                                     {"pstrain.dev/"});
  ASSERT_TRUE(meta.ok()) << meta.status().ToString();
  EXPECT_EQ(meta->key, (ObjectKey{"ns", "a"}));
  EXPECT_EQ(meta->generation, 3);
  EXPECT_TRUE(meta->deleting());
  EXPECT_THAT(meta->annotations, ElementsAre(Pair("pstrain.dev/x", "1")));
  EXPECT_THAT(meta->finalizers, ElementsAre("f"));
  ASSERT_NE(meta->Controller(), nullptr);
  EXPECT_EQ(meta->Controller()->uid, "2");
}

TEST(ObjectMeta, Bad_NamesTheField) {
  const std::pair<const char*, const char*> bad[] = {
      {R"({})", "metadata: must be an object"},
      {R"({"metadata":{"name":"a","uid":"u"}})", "metadata.resourceVersion: missing"},
      {R"({"metadata":{"name":7}})", "metadata.name: must be a string"},
      {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1","generation":"x"}})",
       "metadata.generation: must be an integer"},
      {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1","labels":{"l":1}}})",
       "metadata.labels.l: must be a string"},
      {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1",
          "ownerReferences":[{"controller":"yes"}]}})",
       "controller: must be true or false"},
  };
  for (const auto& [text, reason] : bad) {
    EXPECT_THAT(DecodeObjectMeta(Parse(text)).status().message(), HasSubstr(reason)) << text;
  }
}

ApiError FromStatus(int http, const std::string& reason) {
  HttpReply reply;
  reply.status = http;
  reply.body = R"({"kind":"Status","code":)" + std::to_string(http) + R"(,"reason":")" + reason +
               R"(","message":"why"})";
  return ErrorFromReply(reply, "GET x");
}

TEST(ApiError, Codes_FollowTheTable) {
  const std::tuple<int, const char*, StatusCode> table[] = {
      {400, "BadRequest", StatusCode::kInvalidArgument},
      {401, "Unauthorized", StatusCode::kUnauthenticated},
      {403, "Forbidden", StatusCode::kPermissionDenied},
      {404, "NotFound", StatusCode::kNotFound},
      {405, "MethodNotAllowed", StatusCode::kUnimplemented},
      {409, "AlreadyExists", StatusCode::kAlreadyExists},
      {409, "Conflict", StatusCode::kAborted},
      {410, "Expired", StatusCode::kOutOfRange},
      {413, "RequestEntityTooLarge", StatusCode::kInvalidArgument},
      {422, "Invalid", StatusCode::kInvalidArgument},
      {429, "TooManyRequests", StatusCode::kResourceExhausted},
      {500, "InternalError", StatusCode::kInternal},
      {500, "ServerTimeout", StatusCode::kUnavailable},
      {503, "ServiceUnavailable", StatusCode::kUnavailable},
      {504, "Timeout", StatusCode::kDeadlineExceeded},
      {418, "", StatusCode::kUnknown},
  };
  for (const auto& [http, reason, code] : table) {
    const ApiError error = FromStatus(http, reason);
    EXPECT_EQ(error.status.code(), code) << http << reason;
    EXPECT_EQ(error.reason, reason);
    EXPECT_EQ(error.message, "why");
    EXPECT_THAT(error.status.message(), HasSubstr("GET x: HTTP " + std::to_string(http)));
  }
}

TEST(ApiError, Details_AreKept) {
  HttpReply reply;
  reply.status = 422;
  reply.body = R"({"kind":"Status","code":422,"reason":"Invalid","details":{"retryAfterSeconds":4,
      "causes":[{"reason":"FieldValueInvalid","message":"bad","field":"spec.x"}]}})";
  const ApiError error = ErrorFromReply(reply, "POST pods");
  EXPECT_EQ(error.retry_after, std::chrono::seconds(4));
  ASSERT_EQ(error.causes.size(), 1U);
  EXPECT_EQ(error.causes[0].field, "spec.x");
  reply.retry_after = std::chrono::seconds(9);
  EXPECT_EQ(ErrorFromReply(reply, "x").retry_after, std::chrono::seconds(9));
}

TEST(ApiError, Body_ThatIsNoStatus_IsQuotedOnOneLine) {
  HttpReply reply;
  reply.status = 502;
  reply.body = "<html>\nbad gateway" + std::string(1000, 'x');
  const ApiError error = ErrorFromReply(reply, "x");
  EXPECT_EQ(error.status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("<html> bad gateway"));
  EXPECT_LE(error.message.size(), 200U);
}

}  // namespace
}  // namespace pstrain::kube
