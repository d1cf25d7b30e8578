#include "operator/kube/api_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>

namespace pstrain::kube {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

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
  reply.body = std::string(199, 'x') + "é";
  EXPECT_THAT(ErrorFromReply(reply, "x").message, EndsWith("xx")) << "no half of a letter";
}

}  // namespace
}  // namespace pstrain::kube
