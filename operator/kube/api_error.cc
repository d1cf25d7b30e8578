#include "operator/kube/api_error.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/text/utf8.h"
#include "operator/kube/json_fields.h"

namespace pstrain::kube {
namespace {

StatusCode CodeOf(int http_status, std::string_view reason) {
  if (reason == "ServerTimeout") return StatusCode::kUnavailable;
  switch (http_status) {
    case 400:
    case 413:
    case 422:
      return StatusCode::kInvalidArgument;
    case 401:
      return StatusCode::kUnauthenticated;
    case 403:
      return StatusCode::kPermissionDenied;
    case 404:
      return StatusCode::kNotFound;
    case 405:
    case 406:
    case 415:
      return StatusCode::kUnimplemented;
    case 409:
      return reason == "AlreadyExists" ? StatusCode::kAlreadyExists : StatusCode::kAborted;
    case 410:
      return StatusCode::kOutOfRange;
    case 429:
      return StatusCode::kResourceExhausted;
    case 500:
      return StatusCode::kInternal;
    case 502:
    case 503:
      return StatusCode::kUnavailable;
    case 504:
      return StatusCode::kDeadlineExceeded;
    default:
      return StatusCode::kUnknown;
  }
}

/// A body that is no Status object, e.g. a proxy's page: its beginning, on one line.
std::string Excerpt(std::string_view body) {
  constexpr std::size_t kLongest = 200;
  std::string text(Utf8Prefix(body, kLongest));
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

void ReadDetails(const Json& status_object, ApiError& error) {
  const Json* details = status_object.Find("details");
  if (details == nullptr) return;
  if (const Json* causes = details->Find("causes")) {
    for (const Json& cause : causes->items()) {
      error.causes.push_back({TextOrEmpty(cause, "reason"), TextOrEmpty(cause, "message"),
                              TextOrEmpty(cause, "field")});
    }
  }
  const Json* seconds = details->Find("retryAfterSeconds");
  const auto wait = seconds == nullptr ? std::nullopt : seconds->AsInt64();
  if (wait && *wait > 0) error.retry_after = std::chrono::seconds(*wait);
}

ApiError Finish(ApiError error, std::string_view action) {
  std::string text = "HTTP " + std::to_string(error.http_status);
  if (!error.reason.empty()) text += " " + error.reason;
  if (!error.message.empty()) text += ": " + error.message;
  error.status =
      Status(CodeOf(error.http_status, error.reason), std::move(text)).WithContext(action);
  return error;
}

ApiError ReadStatusObject(const Json& object, int http_status) {
  ApiError error;
  const Json* code = object.Find("code");
  const auto number = code == nullptr ? std::nullopt : code->AsInt64();
  constexpr std::int64_t kLastHttpStatus = 599;
  const bool usable = number && *number >= 400 && *number <= kLastHttpStatus;
  error.http_status = usable ? static_cast<int>(*number) : http_status;
  error.reason = TextOrEmpty(object, "reason");
  error.message = TextOrEmpty(object, "message");
  ReadDetails(object, error);
  return error;
}

}  // namespace

bool ApiError::IsTransient() const {
  switch (status.code()) {
    case StatusCode::kUnavailable:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kResourceExhausted:
      return true;
    default:
      return false;
  }
}

ApiError ErrorFromReply(const HttpReply& reply, std::string_view action) {
  ApiError error;
  const Result<Json> body = ParseServerJson(reply.body);
  if (body.ok() && TextOrEmpty(*body, "kind") == "Status") {
    error = ReadStatusObject(*body, reply.status);
  } else {
    error.message = Excerpt(reply.body);
  }
  error.http_status = reply.status;
  if (reply.retry_after) error.retry_after = reply.retry_after;
  return Finish(std::move(error), action);
}

ApiError ErrorFromStatusObject(const Json& status_object, std::string_view action) {
  constexpr int kInternalServerError = 500;
  return Finish(ReadStatusObject(status_object, kInternalServerError), action);
}

}  // namespace pstrain::kube
