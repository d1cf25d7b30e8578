#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"
#include "operator/kube/http/secret.h"

namespace pstrain::kube {

enum class HttpMethod : std::uint8_t { kGet, kPost, kPut, kPatch, kDelete };

/// "GET", "POST", "PUT", "PATCH" or "DELETE".
std::string_view HttpMethodName(HttpMethod method);

/// One request to the apiserver. A value.
struct HttpRequest {
  HttpMethod method = HttpMethod::kGet;
  /// Path and query, percent-encoded, from the first '/'. The transport puts its base URL before
  /// it.
  std::string target = {};
  std::string content_type = {};  // empty without a body
  std::string body = {};
  /// Sent as "Authorization: Bearer ..."; empty: no such header.
  Secret bearer = {};
  /// Send: for the whole call. Stream: until the headers of the reply are there.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

/// One reply, whatever its status. A value.
struct HttpReply {
  int status = 0;
  std::string content_type;
  /// The Retry-After header, when it holds a number of seconds (RFC 9110, 10.2.3).
  std::optional<std::chrono::seconds> retry_after;
  /// Empty for a stream that was delivered to its sink.
  std::string body;
};

/// Takes the bytes of a stream in order, on the thread that called Transport::Stream.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// An error ends the stream: Transport::Stream returns it.
  virtual Status Write(std::string_view bytes) = 0;
};

/// The way to one apiserver. All calls block; any number of threads may call at once. A stop token
/// ends a call within a second with CANCELLED, whatever the server does.
///
/// Errors are of the connection, never of the reply: UNAVAILABLE (no connection, TLS refused,
/// broken off), DEADLINE_EXCEEDED (the timeout, or no byte within the transport's idle limit),
/// CANCELLED. Their message names method and target. A request that failed so may have been carried
/// out.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Result<HttpReply> Send(const HttpRequest& request, const std::stop_token& stop) = 0;

  /// Hands the body of a 2xx reply to `sink` as it arrives and returns when the server has ended
  /// it; the body of any other reply is collected as by Send. A sink that is slow slows the server
  /// down: no more than a fixed amount is buffered. On return the connection is free or closed.
  virtual Result<HttpReply> Stream(const HttpRequest& request, ByteSink& sink,
                                   const std::stop_token& stop) = 0;
};

}  // namespace pstrain::kube
