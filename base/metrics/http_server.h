#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/metrics/http_request.h"
#include "base/status.h"

namespace pstrain {

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// A small HTTP/1.1 server whose clients cannot starve each other. One thread waits for all
/// connections, so a slow client costs a place and no thread. Each connection has `deadline` from
/// its accept to its end, however much it has sent or read, and `max_connections` at most are open:
/// one more closes the oldest. Requests that are `urgent` have a thread of their own, so answers
/// that take long do not delay them; when more than `max_connections` others wait, the next one is
/// answered 503. A head is at most 8 KiB, a body is not read, each connection carries one request.
///
/// Owned by AdminServer; runs from Start to the destructor, which waits for answers in progress.
class HttpServer {
 public:
  /// Called by threads of the server, several at the same time: must be thread-safe.
  using Answer = std::function<HttpResponse(const HttpRequest&)>;
  /// Called by the waiting thread: must not block.
  using Urgent = std::function<bool(const HttpRequest&)>;

  struct Options {
    std::string address = "127.0.0.1";  // IPv4
    std::uint16_t port = 0;             // 0: a free one
    std::chrono::milliseconds deadline{5000};
    std::size_t max_connections = 128;
    int threads = 2;  // for answers that are not urgent
  };

  /// Listens before it returns. INVALID_ARGUMENT for an address that is none, ALREADY_EXISTS when
  /// the port is in use, the error of the system otherwise; the caller names address and port.
  static Result<std::unique_ptr<HttpServer>> Start(const Options& options, Answer answer,
                                                   Urgent urgent);

  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  class Impl;
  HttpServer(std::unique_ptr<Impl> impl, std::uint16_t port);

  std::unique_ptr<Impl> impl_;
  std::uint16_t port_;
};

}  // namespace pstrain
