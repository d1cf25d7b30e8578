#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/metrics/http_server.h"
#include "base/status.h"

namespace pstrain {

class MetricsRegistry;

/// Called by a thread of the server, several at the same time: must be thread-safe.
using HttpHandler = std::function<HttpResponse()>;
/// OK answers 200 "ok"; an error answers 503 with its message.
using HealthCheck = std::function<Status()>;
/// Whether this client may read a page: nothing when it may, else the answer to give instead.
/// Called as handlers are; may block.
using AccessCheck = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

/// A small HTTP/1.1 server for GET and HEAD: /metrics, /healthz, /readyz and further exact paths.
/// Other methods get 405, other paths 404. Owned by main; runs from Start() to the destructor,
/// which waits for requests in progress. No TLS, no files, no uploads.
///
/// Slow or many clients do not keep the probes from their answers: /healthz and /readyz have a
/// thread of their own, and each connection ends `request_timeout_ms` after its accept
/// (base/metrics/http_server.h; docs/design/admin-server.md).
class AdminServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";                 // IPv4; "0.0.0.0" for all
    std::uint16_t port = 0;                            // 0: a free one, see port()
    int threads = 2;                                   // for pages; the probes have another
    int request_timeout_ms = 5000;                     // from accept to the end of the connection
    std::size_t max_connections = 128;                 // one more closes the oldest
    const MetricsRegistry* metrics = nullptr;          // not owned; null: no /metrics
    HealthCheck healthy = nullptr;                     // empty: always OK
    HealthCheck ready = nullptr;                       // empty: always OK
    std::map<std::string, HttpHandler> handlers = {};  // by path, e.g. "/progress"
    AccessCheck access = nullptr;                      // of all but the probes; empty: anybody
  };

  /// Listens before it returns. An error names address and port: ALREADY_EXISTS when the port is in
  /// use, INVALID_ARGUMENT for a bad address, UNAVAILABLE for the rest.
  static Result<std::unique_ptr<AdminServer>> Start(Options options);

  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// The port that it listens on.
  std::uint16_t port() const;
  /// "http://ADDRESS:PORT".
  std::string Url() const;

 private:
  class Pages;
  AdminServer(std::string address, std::unique_ptr<const Pages> pages);

  std::string address_;
  std::unique_ptr<const Pages> pages_;
  std::unique_ptr<HttpServer> server_;  // its threads read the pages: it goes first
};

}  // namespace pstrain
