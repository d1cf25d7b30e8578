#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"

namespace pstrain {

class MetricsRegistry;

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// Called by a thread of the server, several at the same time: must be thread-safe.
using HttpHandler = std::function<HttpResponse()>;
/// OK answers 200 "ok"; an error answers 503 with its message.
using HealthCheck = std::function<Status()>;

/// A small HTTP/1.1 server for GET and HEAD: /metrics, /healthz, /readyz and further exact paths.
/// Other methods get 405, other paths 404. Owned by main; runs from Start() to the destructor,
/// which waits for requests in progress. No TLS, no files, no uploads.
class AdminServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // IPv4; "0.0.0.0" for all
    std::uint16_t port = 0;             // 0: a free one, see port()
    int threads = 2;
    int request_timeout_ms = 5000;
    const MetricsRegistry* metrics = nullptr;          // not owned; null: no /metrics
    HealthCheck healthy = nullptr;                     // empty: always OK
    HealthCheck ready = nullptr;                       // empty: always OK
    std::map<std::string, HttpHandler> handlers = {};  // by path, e.g. "/progress"
  };

  /// Listens before it returns. An error names address and port: ALREADY_EXISTS when the port is in
  /// use, INVALID_ARGUMENT for a bad address, UNAVAILABLE for the rest.
  static Result<std::unique_ptr<AdminServer>> Start(Options options);

  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// The port that it listens on.
  std::uint16_t port() const { return port_; }
  /// "http://ADDRESS:PORT".
  std::string Url() const;

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
  std::uint16_t port_ = 0;
};

}  // namespace pstrain
