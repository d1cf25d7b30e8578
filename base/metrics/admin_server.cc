#include "base/metrics/admin_server.h"

#include <string_view>
#include <utility>

#include "base/metrics/collector.h"

namespace pstrain {
namespace {

constexpr std::string_view kHealthPath = "/healthz";
constexpr std::string_view kReadyPath = "/readyz";

HttpResponse Plain(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

HttpHandler FromHealthCheck(HealthCheck check) {
  return [check = std::move(check)] {
    const Status status = check ? check() : OkStatus();
    return Plain(status.ok() ? 200 : 503, (status.ok() ? "ok" : status.ToString()) + "\n");
  };
}

HttpHandler FromMetrics(const MetricsRegistry& metrics) {
  return [&metrics] {
    return HttpResponse{200, "text/plain; version=0.0.4; charset=utf-8", metrics.Scrape()};
  };
}

bool IsProbe(const HttpRequest& request) {
  return request.path == kHealthPath || request.path == kReadyPath;
}

}  // namespace

/// What is served; does not change.
class AdminServer::Pages {
 public:
  explicit Pages(Options& options)
      : handlers_(std::move(options.handlers)), access_(std::move(options.access)) {
    handlers_.emplace(kHealthPath, FromHealthCheck(std::move(options.healthy)));
    handlers_.emplace(kReadyPath, FromHealthCheck(std::move(options.ready)));
    if (options.metrics != nullptr) handlers_.emplace("/metrics", FromMetrics(*options.metrics));
  }

  HttpResponse Answer(const HttpRequest& request) const {
    if (request.method != "GET" && request.method != "HEAD") {
      return Plain(405, "only GET and HEAD\n");
    }
    const auto handler = handlers_.find(request.path);
    if (handler == handlers_.end()) return Plain(404, "not found\n");
    if (access_ && !IsProbe(request)) {
      if (std::optional<HttpResponse> refusal = access_(request)) return *std::move(refusal);
    }
    return handler->second();
  }

 private:
  std::map<std::string, HttpHandler> handlers_;
  AccessCheck access_;
};

Result<std::unique_ptr<AdminServer>> AdminServer::Start(Options options) {
  const HttpServer::Options http{.address = options.address,
                                 .port = options.port,
                                 .deadline = std::chrono::milliseconds(options.request_timeout_ms),
                                 .max_connections = options.max_connections,
                                 .threads = options.threads};
  auto server = std::unique_ptr<AdminServer>(
      new AdminServer(options.address, std::make_unique<const Pages>(options)));
  auto started = HttpServer::Start(
      http,
      [pages = server->pages_.get()](const HttpRequest& request) { return pages->Answer(request); },
      IsProbe);
  if (!started.ok()) {
    return started.status().WithContext("admin server on " + http.address + ":" +
                                        std::to_string(http.port));
  }
  server->server_ = std::move(started).value();
  return server;
}

AdminServer::AdminServer(std::string address, std::unique_ptr<const Pages> pages)
    : address_(std::move(address)), pages_(std::move(pages)) {}

AdminServer::~AdminServer() = default;

std::uint16_t AdminServer::port() const { return server_->port(); }

std::string AdminServer::Url() const { return "http://" + address_ + ":" + std::to_string(port()); }

}  // namespace pstrain
