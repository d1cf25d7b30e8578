#include "base/metrics/admin_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/metrics/collector.h"
#include "base/mutex.h"
#include "base/os/unique_fd.h"

namespace pstrain {
namespace {

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

HttpHandler FromHealthCheck(HealthCheck check) {
  return [check = std::move(check)] {
    const Status status = check ? check() : OkStatus();
    HttpResponse response;
    response.status = status.ok() ? 200 : 503;
    response.body = (status.ok() ? "ok" : status.ToString()) + "\n";
    return response;
  };
}

HttpHandler FromMetrics(const MetricsRegistry& metrics) {
  return [&metrics] {
    return HttpResponse{200, "text/plain; version=0.0.4; charset=utf-8", metrics.Scrape()};
  };
}

// A TCP socket and the IPv4 address that `address` and `port` mean; no socket when it is none.
struct Endpoint {
  Endpoint(const std::string& address, std::uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    if (::inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1) return;
    std::memcpy(&generic, &name, sizeof(name));
    socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  }

  UniqueFd socket;
  sockaddr generic{};
};

// civetweb's error codes differ between releases; binding once ourselves tells the reason.
int ErrnoOfBinding(const std::string& address, std::uint16_t port) {
  const Endpoint endpoint(address, port);
  if (!endpoint.socket.valid()) return 0;
  const int yes = 1;
  ::setsockopt(endpoint.socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  return ::bind(endpoint.socket.get(), &endpoint.generic, sizeof(endpoint.generic)) == 0 ? 0
                                                                                         : errno;
}

// mg_stop alone takes up to the 2 s for which civetweb's accepting thread polls its listener;
// connections wake that thread until it has seen that it should end.
void StopPromptly(mg_context* context, const std::string& address, std::uint16_t port) {
  struct {
    Mutex mutex;
    CondVar changed;
    bool done PSTRAIN_GUARDED_BY(mutex) = false;
  } stop;
  std::thread stopper([&] {
    mg_stop(context);
    MutexLock lock(stop.mutex);
    stop.done = true;
    stop.changed.NotifyAll();
  });
  {
    MutexLock lock(stop.mutex);
    while (!stop.done) {
      const Endpoint endpoint(address, port);
      if (endpoint.socket.valid()) {
        static_cast<void>(
            ::connect(endpoint.socket.get(), &endpoint.generic, sizeof(endpoint.generic)));
      }
      stop.changed.WaitFor(stop.mutex, std::chrono::milliseconds(10));
    }
  }
  stopper.join();
}

}  // namespace

class AdminServer::Impl {
 public:
  explicit Impl(Options options)
      : address_(std::move(options.address)),
        port_(options.port),
        handlers_(std::move(options.handlers)) {
    handlers_.emplace("/healthz", FromHealthCheck(std::move(options.healthy)));
    handlers_.emplace("/readyz", FromHealthCheck(std::move(options.ready)));
    if (options.metrics != nullptr) handlers_.emplace("/metrics", FromMetrics(*options.metrics));
  }

  ~Impl() {
    if (context_ != nullptr) StopPromptly(context_, address_, port_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status Start(int threads, int request_timeout_ms) {
    [[maybe_unused]] static const unsigned initialized_once = mg_init_library(MG_FEATURES_DEFAULT);
    const std::string listen = address_ + ":" + std::to_string(port_);
    const std::string thread_count = std::to_string(threads);
    const std::string timeout = std::to_string(request_timeout_ms);
    std::vector<const char*> options = {
        "listening_ports",    listen.c_str(),  "num_threads",       thread_count.c_str(),
        "request_timeout_ms", timeout.c_str(), "enable_keep_alive", "no"};
    options.push_back(nullptr);
    mg_callbacks callbacks{};
    callbacks.begin_request = &Impl::OnRequest;
    callbacks.log_message = &Impl::OnLogMessage;
    context_ = mg_start(&callbacks, this, options.data());
    if (context_ == nullptr) return StartError(listen);
    std::array<mg_server_port, 2> ports{};
    if (mg_get_server_ports(context_, static_cast<int>(ports.size()), ports.data()) < 1) {
      return InternalError("admin server on " + listen + ": no port");
    }
    port_ = static_cast<std::uint16_t>(ports[0].port);
    return OkStatus();
  }

  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }

 private:
  static Impl& Self(const mg_connection* connection) {
    return *static_cast<Impl*>(mg_get_user_data(mg_get_context(connection)));
  }

  // Non-zero tells civetweb that the request has been answered.
  static int OnRequest(mg_connection* connection) {
    const mg_request_info* request = mg_get_request_info(connection);
    const std::string_view method = request->request_method;
    HttpResponse response;
    if (method == "GET" || method == "HEAD") {
      response = Self(connection).Answer(request->local_uri);
    } else {
      response = {405, "text/plain; charset=utf-8", "only GET and HEAD\n"};
    }
    Send(connection, response, method == "HEAD");
    return 1;
  }

  HttpResponse Answer(const std::string& path) const {
    const auto handler = handlers_.find(path);
    if (handler == handlers_.end()) return {404, "text/plain; charset=utf-8", "not found\n"};
    return handler->second();
  }

  static void Send(mg_connection* connection, const HttpResponse& response, bool head_only) {
    std::string text = "HTTP/1.1 " + std::to_string(response.status) + " ";
    text += ReasonPhrase(response.status);
    text += "\r\nContent-Type: " + response.content_type;
    text += "\r\nContent-Length: " + std::to_string(response.body.size());
    text += "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
    if (!head_only) text += response.body;
    mg_write(connection, text.data(), text.size());
  }

  // Called by the thread of Start() until it returns and by the server's threads after.
  static int OnLogMessage(const mg_connection* connection, const char* message) {
    Impl& self = Self(connection);
    MutexLock lock(self.mutex_);
    if (self.first_message_.empty()) self.first_message_ = message;
    return 1;
  }

  Status StartError(const std::string& listen) {
    const std::string context = "admin server on " + listen;
    const int error_number = ErrnoOfBinding(address_, port_);
    if (error_number == EADDRINUSE)
      return AlreadyExistsError(
          context + ": the port is in use; end the process that has it, or take another");
    if (error_number != 0) return ErrnoError(error_number, context);
    MutexLock lock(mutex_);
    if (first_message_.empty()) return UnavailableError(context + ": cannot start");
    return InvalidArgumentError(context + ": " + first_message_);
  }

  const std::string address_;
  std::uint16_t port_;
  std::map<std::string, HttpHandler> handlers_;
  mg_context* context_ = nullptr;
  Mutex mutex_;
  std::string first_message_ PSTRAIN_GUARDED_BY(mutex_);
};

Result<std::unique_ptr<AdminServer>> AdminServer::Start(Options options) {
  const int threads = options.threads;
  const int timeout = options.request_timeout_ms;
  auto impl = std::make_unique<Impl>(std::move(options));
  PSTRAIN_RETURN_IF_ERROR(impl->Start(threads, timeout));
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), port_(impl_->port()) {}

AdminServer::~AdminServer() = default;

std::string AdminServer::Url() const {
  return "http://" + impl_->address() + ":" + std::to_string(port_);
}

}  // namespace pstrain
