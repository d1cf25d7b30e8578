#include "operator/kube/http/cpprest_transport.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/text/parse_number.h"
#include "operator/kube/http/byte_pipe.h"
#include "operator/kube/http/child_output.h"
#include "operator/kube/http/cpprest_status.h"
#include "operator/kube/http/tls_context.h"

// Last, and without its macro U: see the traps of cpprestsdk's headers.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"  // the library's name
#endif
#define _TURN_OFF_PLATFORM_STRING
#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

namespace pstrain::kube {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// Enough to keep a fast stream busy; a slow reader stops the server's writes soon after.
constexpr std::size_t kPipeBytes = 256U << 10;

/// One call, shared by the caller, who may leave first, and the library's continuations.
struct CallState {
  BytePipe pipe{kPipeBytes};
  Mutex mutex;
  CondVar changed;
  std::optional<Result<HttpReply>> head PSTRAIN_GUARDED_BY(mutex);
  pplx::cancellation_token_source cancellation;

  void SetHead(Result<HttpReply> value) PSTRAIN_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    head = std::move(value);
    changed.NotifyAll();
  }

  Result<HttpReply> WaitForHead(SteadyTime deadline, const std::stop_token& stop)
      PSTRAIN_EXCLUDES(mutex) {
    const std::stop_callback wake(stop, [this] {
      const MutexLock lock(mutex);
      changed.NotifyAll();
    });
    const MutexLock lock(mutex);
    while (!head && !stop.stop_requested()) {
      if (!changed.WaitUntil(mutex, deadline)) break;
    }
    if (stop.stop_requested()) return CancelledError("stopped");
    if (!head) return DeadlineExceededError("the apiserver did not reply in time");
    return *head;
  }
};

/// Where the library writes a body: into the pipe of the call. Write-only and not seekable.
class PipeBuffer final
    : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit PipeBuffer(std::shared_ptr<CallState> call)
      : streambuf_state_manager(std::ios_base::out), call_(std::move(call)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override {
    return static_cast<pos_type>(traits::eof());
  }
  pos_type seekpos(pos_type, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  bool acquire(std::uint8_t*& pointer, size_t& count) override {
    pointer = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, size_t) override {}

 protected:
  pplx::task<size_t> _putn(const std::uint8_t* bytes, size_t count) override {
    const pplx::task_completion_event<size_t> room;
    const bool go_on = call_->pipe.Put({reinterpret_cast<const char*>(bytes), count},
                                       [room, count] { room.set(count); });
    return go_on ? pplx::task_from_result(count) : pplx::create_task(room);
  }
  pplx::task<int_type> _putc(std::uint8_t byte) override {
    return _putn(&byte, 1).then([byte](size_t) -> int_type { return byte; });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  pplx::task<int_type> _bumpc() override { return NothingToRead(); }
  pplx::task<int_type> _getc() override { return NothingToRead(); }
  pplx::task<int_type> _nextc() override { return NothingToRead(); }
  pplx::task<int_type> _ungetc() override { return NothingToRead(); }
  int_type _sbumpc() override { return traits::eof(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<size_t> _getn(std::uint8_t*, size_t) override {
    return pplx::task_from_result(size_t{0});
  }
  size_t _scopy(std::uint8_t*, size_t) override { return 0; }
  std::uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}

 private:
  static pplx::task<int_type> NothingToRead() {
    return pplx::task_from_result<int_type>(traits::eof());
  }

  const std::shared_ptr<CallState> call_;
};

HttpReply HeadOf(const web::http::http_response& response) {
  HttpReply head;
  head.status = response.status_code();
  head.content_type = response.headers().content_type();
  const auto header = response.headers().find("Retry-After");
  if (header != response.headers().end()) {
    const auto seconds = ParseNumber<long>(header->second);
    if (seconds && *seconds >= 0) head.retry_after = std::chrono::seconds(*seconds);
  }
  return head;
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

class CpprestTransport::Impl {
 public:
  Impl(const Credentials& credentials, Options options)
      : options_(std::move(options)),
        credentials_(credentials),
        clients_(std::make_shared<Clients>(*this)) {
    if (credentials.insecure_skip_tls_verify()) {
      LogWarning("kube",
                 "insecure-skip-tls-verify: whoever answers is taken for the apiserver, and gets "
                 "the credentials",
                 {{"server", credentials.server()}});
    }
  }

  ~Impl() {
    const MutexLock lock(mutex_);
    while (under_way_ > 0) idle_.Wait(mutex_);
  }

  /// `sink` null: the body is collected.
  Result<HttpReply> Call(const HttpRequest& request, ByteSink* sink, const std::stop_token& stop) {
    const std::string action = std::string(HttpMethodName(request.method)) + " " + request.target;
    if (stop.stop_requested()) return CancelledError("stopped").WithContext(action);
    const auto call = std::make_shared<CallState>();
    Start(request, sink != nullptr, call);
    const SteadyTime deadline = SteadyNow() + request.timeout;
    Result<HttpReply> reply = call->WaitForHead(deadline, stop);
    if (reply.ok()) reply = ReadBody(std::move(*reply), sink, *call, deadline, stop);
    if (reply.ok()) return reply;
    Abandon(call);
    return WithTlsError(reply.status().WithContext(action));
  }

 private:
  /// The two pools of connections, which show one client certificate.
  struct Clients {
    explicit Clients(Impl& transport)
        : certificate(transport.credentials_.CertificateNumber()),
          unary(transport.credentials_.server(), transport.Config(transport.options_.idle_limit)),
          streams(transport.credentials_.server(),
                  transport.Config(transport.options_.stream_idle_limit)) {}
    const int certificate;
    web::http::client::http_client unary;
    web::http::client::http_client streams;
  };

  /// Those of the certificate of now. Calls under way keep the ones that they began with.
  std::shared_ptr<Clients> CurrentClients() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (clients_->certificate != credentials_.CertificateNumber()) {
      clients_ = std::make_shared<Clients>(*this);
    }
    return clients_;
  }

  web::http::client::http_client_config Config(std::chrono::seconds idle_limit) {
    web::http::client::http_client_config config;
    config.set_validate_certificates(!credentials_.insecure_skip_tls_verify());
    if (!credentials_.proxy_url().empty()) config.set_proxy(Proxy());
    config.set_timeout(idle_limit);
    config.set_max_redirects(0);
    config.set_ssl_context_callback(
        [this](boost::asio::ssl::context& context) { PrepareTls(context.native_handle()); });
    return config;
  }

  web::web_proxy Proxy() const {
    const web::uri url(credentials_.proxy_url().Reveal());
    web::web_proxy proxy(web::uri_builder(url).set_user_info("").to_uri());
    const std::string& user = url.user_info();
    const std::size_t colon = user.find(':');
    if (!user.empty()) {
      proxy.set_credentials(
          {web::uri::decode(user.substr(0, colon)),
           colon == std::string::npos ? "" : web::uri::decode(user.substr(colon + 1))});
    }
    return proxy;
  }

  /// Runs for each new connection, so that rotated files are used from the next one on.
  void PrepareTls(SSL_CTX* context) {
    TrustNothing(context);
    const Result<TlsMaterial> material = credentials_.ReadTls();
    Status status = material.ok() ? ConfigureTls(context, *material) : material.status();
    if (!status.ok()) {
      TrustNothing(context);
      LogError("kube", "cannot set up TLS; every connection will be refused", {{"error", status}});
    }
    const MutexLock lock(mutex_);
    tls_status_ = std::move(status);
  }

  Status WithTlsError(Status status) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (tls_status_.ok() || status.code() == StatusCode::kCancelled) return status;
    return Status(status.code(), status.message() + " (" + tls_status_.message() + ")");
  }

  web::http::http_request Build(const HttpRequest& request,
                                const std::shared_ptr<CallState>& call) const {
    web::http::http_request built{std::string(HttpMethodName(request.method))};
    built.set_request_uri(request.target);
    // The second is what the keys of service-account tokens are served as, and as nothing else.
    built.headers().add("Accept", "application/json, application/jwk-set+json");
    built.headers().add("User-Agent", options_.user_agent);
    // The library takes the name that it verifies from this header.
    if (!credentials_.tls_server_name().empty()) {
      built.headers().add("Host", credentials_.tls_server_name());
    }
    if (!request.bearer.empty()) {
      built.headers().add("Authorization", "Bearer " + request.bearer.Reveal());
    }
    if (!request.content_type.empty()) built.set_body(request.body, request.content_type);
    const concurrency::streams::streambuf<std::uint8_t> buffer(std::make_shared<PipeBuffer>(call));
    built.set_response_stream(buffer.create_ostream());
    return built;
  }

  void Start(const HttpRequest& request, bool streams, const std::shared_ptr<CallState>& call) {
    const std::shared_ptr<Clients> clients = CurrentClients();
    web::http::client::http_client& client = streams ? clients->streams : clients->unary;
    {
      const MutexLock lock(mutex_);
      ++under_way_;
    }
    try {
      client.request(Build(request, call), call->cancellation.get_token())
          .then([call](const pplx::task<web::http::http_response>& task) {
            const web::http::http_response response = task.get();
            call->SetHead(HeadOf(response));
            return response.content_ready();
          })
          .then([this, call, clients](const pplx::task<web::http::http_response>& task) {
            Status end;
            try {
              task.get();
            } catch (...) {
              end = CpprestStatus(std::current_exception());
            }
            End(*call, std::move(end));
          });
    } catch (...) {
      End(*call, CpprestStatus(std::current_exception()));
    }
  }

  void End(CallState& call, Status end) PSTRAIN_EXCLUDES(mutex_) {
    call.pipe.Close(end);
    {
      const MutexLock lock(call.mutex);
      if (!call.head) call.head = Result<HttpReply>(std::move(end));
      call.changed.NotifyAll();
    }
    const MutexLock lock(mutex_);
    --under_way_;
    idle_.NotifyAll();
  }

  Result<HttpReply> ReadBody(HttpReply reply, ByteSink* sink, CallState& call, SteadyTime deadline,
                             const std::stop_token& stop) const {
    const bool to_sink = sink != nullptr && IsSuccess(reply.status);
    // A stream has no deadline of its own: the library's idle limit watches over it.
    const SteadyTime end = to_sink ? SteadyTime::max() : deadline;
    while (true) {
      PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, call.pipe.Take(end, stop));
      if (bytes.empty()) return reply;
      if (to_sink) {
        PSTRAIN_RETURN_IF_ERROR(sink->Write(bytes));
      } else if (reply.body.size() + bytes.size() > options_.max_body_bytes) {
        return ResourceExhaustedError("the reply is longer than " +
                                      std::to_string(options_.max_body_bytes) + " bytes");
      } else {
        reply.body += bytes;
      }
    }
  }

  /// The caller leaves: closes the connection, on a thread of the pool because the library's
  /// handlers there do not lock it.
  static void Abandon(const std::shared_ptr<CallState>& call) {
    call->pipe.Leave();
    crossplat::threadpool::shared_instance().service().post(
        [call] { call->cancellation.cancel(); });
  }

  const Options options_;
  const Credentials& credentials_;
  Mutex mutex_;
  CondVar idle_;
  int under_way_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  Status tls_status_ PSTRAIN_GUARDED_BY(mutex_);
  std::shared_ptr<Clients> clients_ PSTRAIN_GUARDED_BY(mutex_);
};

void PrepareCpprest(int threads) {
  // The initialization of a static runs once, whichever thread comes first.
  [[maybe_unused]] static const bool prepared = [threads] {
    ChildEnvironment();  // without what follows: a plugin may need the system's certificates
    // OpenSSL writes with write(2): to a connection that the server has closed it would be fatal.
    std::signal(SIGPIPE, SIG_IGN);
    ::setenv("SSL_CERT_FILE", "/dev/null", 1);
    ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
    try {
      crossplat::threadpool::initialize_with_threads(static_cast<std::size_t>(threads));
    } catch (const std::exception& e) {
      LogWarning("kube", "cpprestsdk's thread pool is already running", {{"error", e.what()}});
    }
    return true;
  }();
}

CpprestTransport::CpprestTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CpprestTransport::~CpprestTransport() = default;

Result<std::unique_ptr<CpprestTransport>> CpprestTransport::Create(const Credentials& credentials,
                                                                   Options options) {
  const std::string& server = credentials.server();
  if (server.find('[') != std::string::npos) {
    return InvalidArgumentError(
        "server " + server +
        ": IPv6 addresses cannot be used here; use a name that resolves to it, e.g. "
        "https://kubernetes.default.svc");
  }
  if (!server.starts_with("https://") && !server.starts_with("http://")) {
    return InvalidArgumentError("server \"" + server + "\": must begin with https:// or http://");
  }
  try {
    return std::unique_ptr<CpprestTransport>(
        new CpprestTransport(std::make_unique<Impl>(credentials, std::move(options))));
  } catch (const std::exception& e) {
    return InvalidArgumentError("server \"" + server + "\": " + e.what());
  }
}

Result<HttpReply> CpprestTransport::Send(const HttpRequest& request, const std::stop_token& stop) {
  return impl_->Call(request, nullptr, stop);
}

Result<HttpReply> CpprestTransport::Stream(const HttpRequest& request, ByteSink& sink,
                                           const std::stop_token& stop) {
  return impl_->Call(request, &sink, stop);
}

}  // namespace pstrain::kube
