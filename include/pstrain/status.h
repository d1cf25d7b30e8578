#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pstrain {

/// gRPC's canonical codes, with gRPC's numbers, so that HTTP, Kubernetes and gRPC map by one table.
/// Source: grpc doc/statuscodes.md.
enum class StatusCode : std::uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

/// The code's name as gRPC writes it, e.g. "INVALID_ARGUMENT".
std::string_view StatusCodeName(StatusCode code);

/// The outcome of a call that may fail: a code and a message for a person. A value; copies are
/// independent; any thread may own one. OK carries no message.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// "OK" or "CODE_NAME: message".
  std::string ToString() const;

  /// The same code with "context: " put before the message; OK stays OK.
  Status WithContext(std::string_view context) const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return {}; }
Status CancelledError(std::string message);
Status InvalidArgumentError(std::string message);
Status DeadlineExceededError(std::string message);
Status NotFoundError(std::string message);
Status AlreadyExistsError(std::string message);
Status PermissionDeniedError(std::string message);
Status ResourceExhaustedError(std::string message);
Status FailedPreconditionError(std::string message);
Status AbortedError(std::string message);
Status OutOfRangeError(std::string message);
Status UnimplementedError(std::string message);
Status InternalError(std::string message);
Status UnavailableError(std::string message);
Status DataLossError(std::string message);

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /// REQUIRES: !status.ok(). An OK status without a value is our bug and becomes INTERNAL.
  Result(Status status)
      : state_(std::in_place_index<1>, status.ok()
                                           ? Status(StatusCode::kInternal, "Result made from OK")
                                           : std::move(status)) {}

  bool ok() const { return state_.index() == 0; }
  /// The error, or OK when a value is held.
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

  /// REQUIRES: ok().
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace pstrain

/// Returns from the calling function with the Status of `expression` when it is an error.
#define PSTRAIN_RETURN_IF_ERROR(expression)            \
  do {                                                 \
    ::pstrain::Status pstrain_status_ = (expression);  \
    if (!pstrain_status_.ok()) return pstrain_status_; \
  } while (false)

#define PSTRAIN_CONCAT_INNER_(a, b) a##b
#define PSTRAIN_CONCAT_(a, b) PSTRAIN_CONCAT_INNER_(a, b)
/// `PSTRAIN_ASSIGN_OR_RETURN(auto x, Expression());` returns the error or declares x.
#define PSTRAIN_ASSIGN_OR_RETURN(declaration, expression)                                 \
  PSTRAIN_ASSIGN_OR_RETURN_IMPL_(PSTRAIN_CONCAT_(pstrain_result_, __LINE__), declaration, \
                                 expression)
#define PSTRAIN_ASSIGN_OR_RETURN_IMPL_(result, declaration, expression) \
  auto result = (expression);                                           \
  if (!result.ok()) return result.status();                             \
  declaration = std::move(result).value()
