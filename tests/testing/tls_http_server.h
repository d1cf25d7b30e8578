#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "tests/testing/test_certificates.h"

namespace pstrain::testing {

struct HttpServerRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::size_t number_on_connection = 0;  // from 1
};

/// One accepted connection, as the handler of a request sees it. Used by one thread.
class HttpServerConnection {
 public:
  virtual ~HttpServerConnection() = default;
  /// False when the peer is gone.
  virtual bool Write(std::string_view bytes) = 0;
  /// Bytes that fit without waiting; the peer's reading is what makes room. 0 when there is none.
  virtual std::size_t WriteSome(std::string_view bytes) = 0;
  /// Waits at most that long for room; false when there is none then.
  virtual bool WaitForRoom(int milliseconds) = 0;
  /// Waits until the peer closes or the server ends or `wake_fd` is readable (-1: none). True when
  /// the connection has ended.
  virtual bool WaitEnded(int wake_fd) = 0;
  /// Ends the connection after the handler: by FIN, or by RST.
  virtual void Close() = 0;
  virtual void Reset() = 0;

  /// Status line, Content-Length and body.
  bool Reply(int status, std::string_view body,
             const std::vector<std::pair<std::string, std::string>>& headers = {});
  /// The head of a chunked reply; then Chunk for each piece and EndChunks.
  bool BeginChunks(int status);
  bool Chunk(std::string_view bytes);
  bool EndChunks();
};

using HttpServerHandler = std::function<void(const HttpServerRequest&, HttpServerConnection&)>;

/// An HTTP/1.1 server that does exactly what a test wants, over TLS or without: one thread for each
/// connection, the handler decides every byte. Listens on a free port of the loopback address from
/// constructor to destructor, which ends all connections and joins all threads.
class TlsHttpServer {
 public:
  struct Options {
    const TestCertificate* certificate = nullptr;       // null: no TLS
    const TestCertificate* client_authority = nullptr;  // clients must show a certificate of it
    bool ipv6 = false;                                  // listens on ::1
  };

  TlsHttpServer(Options options, HttpServerHandler handler);
  ~TlsHttpServer();
  TlsHttpServer(const TlsHttpServer&) = delete;
  TlsHttpServer& operator=(const TlsHttpServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// "https://127.0.0.1:PORT", "http://..." or "http://[::1]:PORT".
  std::string Url() const;
  /// Accepted since the start; open now.
  int connections() const { return connections_.load(); }
  int open_connections() const PSTRAIN_EXCLUDES(mutex_);
  /// Waits until that many are open; false after ten seconds.
  bool WaitForOpenConnections(int count) PSTRAIN_EXCLUDES(mutex_);

 private:
  class Connection;
  struct Tls;

  void Listen();
  void Accept();
  void Serve(int socket);

  const Options options_;
  const HttpServerHandler handler_;
  std::unique_ptr<Tls> tls_;
  int listener_ = -1;
  int end_fd_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  mutable Mutex mutex_;
  CondVar changed_;
  int open_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::vector<std::jthread> threads_;  // the accepting thread's
  std::jthread accepting_;
};

}  // namespace pstrain::testing
