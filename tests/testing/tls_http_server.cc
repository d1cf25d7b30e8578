#include "tests/testing/tls_http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/clock.h"

namespace pstrain::testing {
namespace {

void Check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "tls_http_server: %s failed (errno %d)\n", what, errno);
  std::abort();
}

X509* ReadCertificate(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Method, target and headers of a request's head, without its empty line.
HttpServerRequest ParseHead(std::string_view head) {
  HttpServerRequest request;
  const std::size_t line_end = head.find("\r\n");
  const std::string_view line = head.substr(0, line_end);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, last - first - 1);
  std::size_t at = line_end == std::string_view::npos ? head.size() : line_end + 2;
  while (at < head.size()) {
    std::size_t end = head.find("\r\n", at);
    if (end == std::string_view::npos) end = head.size();
    const std::string_view field = head.substr(at, end - at);
    const std::size_t colon = field.find(':');
    if (colon != std::string_view::npos) {
      std::string_view value = field.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      request.headers[Lower(std::string(field.substr(0, colon)))] = value;
    }
    at = end + 2;
  }
  return request;
}

}  // namespace

bool HttpServerConnection::Reply(int status, std::string_view body,
                                 const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  head += "Content-Type: application/json\r\n";
  for (const auto& [name, value] : headers) head.append(name).append(": ").append(value) += "\r\n";
  head += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return Write(head.append(body));
}

bool HttpServerConnection::BeginChunks(int status) {
  return Write("HTTP/1.1 " + std::to_string(status) +
               " Status\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool HttpServerConnection::Chunk(std::string_view bytes) {
  constexpr std::size_t kLongestSize = 20;
  std::array<char, kLongestSize> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return Write(std::string(size.data()).append(bytes).append("\r\n"));
}

bool HttpServerConnection::EndChunks() { return Write("0\r\n\r\n"); }

struct TlsHttpServer::Tls {
  SSL_CTX* context = nullptr;
  ~Tls() { SSL_CTX_free(context); }
};

class TlsHttpServer::Connection final : public HttpServerConnection {
 public:
  Connection(int socket, int end_fd, SSL_CTX* context) : socket_(socket), end_fd_(end_fd) {
    if (context == nullptr) return;
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, socket_);
  }
  ~Connection() override {
    if (ssl_ != nullptr) {
      if (!reset_ && open_) SSL_shutdown(ssl_);
      SSL_free(ssl_);
    }
    if (reset_) {
      const linger now{1, 0};
      ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool Handshake() {
    if (ssl_ == nullptr) return true;
    while (true) {
      const int done = SSL_accept(ssl_);
      if (done == 1) return true;
      if (!WaitFor(done)) return false;
    }
  }

  bool Write(std::string_view bytes) override {
    while (!bytes.empty() && open_) {
      const long sent = SendOnce(bytes);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (!WaitFor(static_cast<int>(sent))) {
        open_ = false;
      }
    }
    return open_;
  }

  std::size_t WriteSome(std::string_view bytes) override {
    const long sent = SendOnce(bytes);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }

  bool WaitForRoom(int milliseconds) override {
    pollfd room{socket_, POLLOUT, 0};
    return ::poll(&room, 1, milliseconds) == 1;
  }

  bool WaitEnded(int wake_fd) override {
    while (open_) {
      std::array<pollfd, 3> fds{
          {{socket_, POLLIN | POLLRDHUP, 0}, {end_fd_, POLLIN, 0}, {wake_fd, POLLIN, 0}}};
      ::poll(fds.data(), wake_fd >= 0 ? 3 : 2, -1);
      if (fds[1].revents != 0) open_ = false;
      if (fds[2].revents != 0 && wake_fd >= 0) return !open_;
      if (fds[0].revents != 0) ReadMore();
    }
    return true;
  }

  void Close() override { open_ = false; }
  void Reset() override {
    open_ = false;
    reset_ = true;
  }

  /// nullopt when the connection has ended.
  std::optional<HttpServerRequest> ReadRequest() {
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!open_ || !WaitReadable() || !ReadMore()) return std::nullopt;
    }
    HttpServerRequest request = ParseHead(std::string_view(input_).substr(0, end));
    input_.erase(0, end + 4);
    const auto length = request.headers.find("content-length");
    const std::size_t size =
        length == request.headers.end() ? 0 : std::strtoul(length->second.c_str(), nullptr, 10);
    while (input_.size() < size) {
      if (!WaitReadable() || !ReadMore()) return std::nullopt;
    }
    request.body = input_.substr(0, size);
    input_.erase(0, size);
    request.number_on_connection = ++requests_;
    return request;
  }

  bool open() const { return open_; }

 private:
  long SendOnce(std::string_view bytes) {
    if (ssl_ == nullptr) return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ERR_clear_error();
    return SSL_write(ssl_, bytes.data(),
                     static_cast<int>(std::min<std::size_t>(bytes.size(), std::size_t{1} << 20)));
  }

  /// Waits for what the failed call with that result wants; false when it failed for good.
  bool WaitFor(int result) {
    short events = POLLOUT;
    if (ssl_ != nullptr) {
      const int error = SSL_get_error(ssl_, result);
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
      if (error == SSL_ERROR_WANT_READ) events = POLLIN;
    } else if (errno != EAGAIN) {
      return false;
    }
    std::array<pollfd, 2> fds{{{socket_, events, 0}, {end_fd_, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), -1);
    return fds[1].revents == 0;
  }

  bool WaitReadable() {
    if (ssl_ != nullptr && SSL_pending(ssl_) > 0) return true;
    std::array<pollfd, 2> fds{{{socket_, POLLIN, 0}, {end_fd_, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), -1);
    return fds[1].revents == 0;
  }

  /// False when the peer has closed; nothing new is fine.
  bool ReadMore() {
    std::array<char, 16384> buffer;
    ERR_clear_error();
    const long got = ssl_ == nullptr ? ::recv(socket_, buffer.data(), buffer.size(), 0)
                                     : SSL_read(ssl_, buffer.data(), buffer.size());
    if (got > 0) {
      input_.append(buffer.data(), static_cast<std::size_t>(got));
      return true;
    }
    const bool later = ssl_ == nullptr
                           ? got < 0 && errno == EAGAIN
                           : SSL_get_error(ssl_, static_cast<int>(got)) == SSL_ERROR_WANT_READ;
    if (!later) open_ = false;
    return later;
  }

  const int socket_;
  const int end_fd_;
  SSL* ssl_ = nullptr;
  std::string input_;
  std::size_t requests_ = 0;
  bool open_ = true;
  bool reset_ = false;
};

TlsHttpServer::TlsHttpServer(Options options, HttpServerHandler handler)
    : options_(options), handler_(std::move(handler)), tls_(std::make_unique<Tls>()) {
  if (options_.certificate != nullptr) {
    tls_->context = SSL_CTX_new(TLS_server_method());
    X509* certificate = ReadCertificate(options_.certificate->certificate);
    BIO* bio = BIO_new_mem_buf(options_.certificate->key.data(),
                               static_cast<int>(options_.certificate->key.size()));
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    Check(SSL_CTX_use_certificate(tls_->context, certificate) == 1, "SSL_CTX_use_certificate");
    Check(SSL_CTX_use_PrivateKey(tls_->context, key) == 1, "SSL_CTX_use_PrivateKey");
    SSL_CTX_set_mode(tls_->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    EVP_PKEY_free(key);
    BIO_free(bio);
    X509_free(certificate);
  }
  if (options_.client_authority != nullptr) {
    X509* authority = ReadCertificate(options_.client_authority->certificate);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_->context), authority);
    X509_free(authority);
    SSL_CTX_set_verify(tls_->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  end_fd_ = ::eventfd(0, EFD_CLOEXEC);
  Listen();
  accepting_ = std::jthread([this] { Accept(); });
}

void TlsHttpServer::Listen() {
  const int family = options_.ipv6 ? AF_INET6 : AF_INET;
  listener_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  sockaddr* address =
      options_.ipv6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
  socklen_t size = options_.ipv6 ? sizeof v6 : sizeof v4;
  Check(::bind(listener_, address, size) == 0, "bind");
  Check(::listen(listener_, SOMAXCONN) == 0, "listen");
  Check(::getsockname(listener_, address, &size) == 0, "getsockname");
  port_ = ntohs(options_.ipv6 ? v6.sin6_port : v4.sin_port);
}

TlsHttpServer::~TlsHttpServer() {
  const std::uint64_t one = 1;
  Check(::write(end_fd_, &one, sizeof one) == sizeof one, "eventfd");
  accepting_.join();
  threads_.clear();
  ::close(listener_);
  ::close(end_fd_);
}

std::string TlsHttpServer::Url() const {
  const char* scheme = options_.certificate != nullptr ? "https" : "http";
  const char* host = options_.ipv6 ? "://[::1]:" : "://127.0.0.1:";
  return scheme + std::string(host) + std::to_string(port_);
}

int TlsHttpServer::open_connections() const {
  const MutexLock lock(mutex_);
  return open_;
}

bool TlsHttpServer::WaitForOpenConnections(int count) {
  const std::chrono::steady_clock::time_point deadline(RealClock().Now() +
                                                       std::chrono::seconds(10));
  const MutexLock lock(mutex_);
  while (open_ != count) {
    if (!changed_.WaitUntil(mutex_, deadline)) return open_ == count;
  }
  return true;
}

void TlsHttpServer::Accept() {
  while (true) {
    std::array<pollfd, 2> fds{{{listener_, POLLIN, 0}, {end_fd_, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections_.fetch_add(1);
    {
      const MutexLock lock(mutex_);
      ++open_;
    }
    threads_.emplace_back([this, socket] { Serve(socket); });
  }
}

void TlsHttpServer::Serve(int socket) {
  {
    Connection connection(socket, end_fd_, tls_->context);
    if (connection.Handshake()) {
      while (const auto request = connection.ReadRequest()) {
        handler_(*request, connection);
        if (!connection.open()) break;
      }
    }
  }
  const MutexLock lock(mutex_);
  --open_;
  changed_.NotifyAll();
}

}  // namespace pstrain::testing
