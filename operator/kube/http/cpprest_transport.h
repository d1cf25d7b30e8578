#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "base/status.h"
#include "operator/kube/http/credentials.h"
#include "operator/kube/http/transport.h"

namespace pstrain::kube {

/// Prepares the process for CpprestTransport; the first line of main, before any thread exists and
/// before anything else may start the library's thread pool. It sets the size of that pool, which
/// is one for the whole process, and points SSL_CERT_FILE and SSL_CERT_DIR at nothing: the library
/// would otherwise read the system's certificates for each connection (18 ms and 1 MB) only to
/// trust them beside ours. One thread is enough: it only moves bytes. Idempotent. From here on the
/// process ignores SIGPIPE.
void PrepareCpprest(int threads = 1);

/// HTTP/1.1 over TLS by cpprestsdk 2.10. Owned by main. Each of the library's traps is closed here:
/// only the configured CA is trusted, redirects are not followed, nothing is decompressed, bodies
/// are bounded, replies that nobody reads any more close their connection.
///
/// The number of connections is that of the calls under way (the RateLimiter bounds it); idle ones
/// are closed after 30 to 60 s.
class CpprestTransport final : public Transport {
 public:
  struct Options {
    std::string user_agent = "pstrain-operator";
    /// Without a byte for so long a call fails.
    std::chrono::seconds idle_limit{30};
    /// The same for streams. Bookmarks come about every minute.
    std::chrono::seconds stream_idle_limit{120};
    std::size_t max_body_bytes = 64U << 20;
  };

  /// INVALID_ARGUMENT for a server URL that is none, or that names an IPv6 literal (the library
  /// cannot resolve it; the message says what to use instead). `credentials` outlives the
  /// transport.
  static Result<std::unique_ptr<CpprestTransport>> Create(const Credentials& credentials,
                                                          Options options);

  /// Waits until no call is under way. REQUIRES: no thread is in a call, or its stop was requested.
  ~CpprestTransport() override;

  Result<HttpReply> Send(const HttpRequest& request, const std::stop_token& stop) override;
  Result<HttpReply> Stream(const HttpRequest& request, ByteSink& sink,
                           const std::stop_token& stop) override;

 private:
  class Impl;
  explicit CpprestTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pstrain::kube
