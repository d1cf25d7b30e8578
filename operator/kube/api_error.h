#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/http/transport.h"

namespace pstrain::kube {

/// One of details.causes of a Status object: why a field was refused, or which quota.
struct ApiCause {
  std::string reason;
  std::string message;
  std::string field;
};

/// Why the apiserver (or the way to it) did not do what was asked. A value. The functions here are
/// pure: any thread.
///
///   HTTP          | code               | when
///   400, 422      | INVALID_ARGUMENT   | BadRequest, Invalid: details in causes
///   401           | UNAUTHENTICATED    |
///   403           | PERMISSION_DENIED  | RBAC, quota, admission, a namespace that ends: see reason
///   404           | NOT_FOUND          |
///   405, 406, 415 | UNIMPLEMENTED      |
///   409           | ALREADY_EXISTS     | by reason AlreadyExists
///   409           | ABORTED            | Conflict and any other reason
///   410           | OUT_OF_RANGE       | Gone, Expired: resource version or continue token too old
///   413           | INVALID_ARGUMENT   | RequestEntityTooLarge
///   429           | RESOURCE_EXHAUSTED | TooManyRequests
///   500           | INTERNAL           |
///   any           | UNAVAILABLE        | ServerTimeout
///   502, 503      | UNAVAILABLE        |
///   504           | DEADLINE_EXCEEDED  |
///   another       | UNKNOWN            |
///   none          | the Transport's    | e.g. UNAVAILABLE; http_status is 0
struct ApiError {
  Status status;
  int http_status = 0;
  /// metav1.StatusReason, e.g. "AlreadyExists"; empty when the body was no Status object.
  std::string reason;
  /// The server's own words, without our context.
  std::string message;
  std::vector<ApiCause> causes;
  /// The Retry-After header, else details.retryAfterSeconds.
  std::optional<std::chrono::seconds> retry_after;

  /// The server cannot tell the answer just now: worth another try later.
  bool IsTransient() const;
  /// The same, or the server was not reached: worth another try later.
  bool MayPass() const { return http_status == 0 || IsTransient(); }
  /// The server's own words, or what we know where it has said nothing.
  const std::string& Words() const { return message.empty() ? status.message() : message; }
};

/// The error that a reply with status >= 400 stands for. `action` names verb and object.
ApiError ErrorFromReply(const HttpReply& reply, std::string_view action);

/// The error that a Status object stands for, e.g. the object of an ERROR event of a watch.
ApiError ErrorFromStatusObject(const Json& status_object, std::string_view action);

/// A Result whose error can be asked for all that the server has said. Where a Result is wanted,
/// it is one: the Status is the ApiError's.
template <typename T>
class [[nodiscard]] ApiResult : public Result<T> {
 public:
  ApiResult(T value) : Result<T>(std::move(value)) {}
  ApiResult(ApiError error) : Result<T>(error.status), error_(std::move(error)) {}

  /// REQUIRES: !ok().
  const ApiError& error() const { return *error_; }
  ApiError&& TakeError() { return *std::move(error_); }

 private:
  std::optional<ApiError> error_;
};

}  // namespace pstrain::kube
