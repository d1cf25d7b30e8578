#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/kube/http/cpprest_transport.h"
#include "operator/kube/http/credentials.h"
#include "tests/testing/test_certificates.h"
#include "tests/testing/tls_http_server.h"

namespace pstrain::kube {

/// The authority of all servers in these tests.
inline const testing::TestCertificate& TestAuthority() {
  static const testing::TestCertificate authority = testing::MakeAuthority("test authority");
  return authority;
}

inline const testing::TestCertificate& ServerCertificate() {
  static const testing::TestCertificate certificate =
      testing::IssueCertificate(TestAuthority(), "server");
  return certificate;
}

/// A server with TLS and a transport that trusts it.
class TransportFixture {
 public:
  explicit TransportFixture(testing::HttpServerHandler handler,
                            CpprestTransport::Options options = {})
      : server_({&ServerCertificate(), nullptr}, std::move(handler)),
        credentials_(Config(server_.Url()), clock_) {
    PrepareCpprest();
    auto created = CpprestTransport::Create(credentials_, std::move(options));
    if (created.ok()) transport_ = std::move(*created);
  }

  static ConnectionConfig Config(const std::string& url) {
    ConnectionConfig config;
    config.server = url;
    config.ca.data = TestAuthority().certificate;
    return config;
  }

  testing::TlsHttpServer& server() { return server_; }
  CpprestTransport& transport() { return *transport_; }

  Result<HttpReply> Get(const std::string& target, std::stop_token stop = {}) {
    HttpRequest request;
    request.target = target;
    return transport_->Send(request, stop);
  }

 private:
  const RealClock clock_;
  testing::TlsHttpServer server_;
  Credentials credentials_;
  std::unique_ptr<CpprestTransport> transport_;
};

/// Keeps what it gets; can be waited for.
class CollectingSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    const MutexLock lock(mutex_);
    text_.append(bytes);
    changed_.NotifyAll();
    return OkStatus();
  }
  bool WaitForBytes(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const MutexLock lock(mutex_);
    while (text_.size() < count) {
      if (!changed_.WaitUntil(mutex_, deadline)) return text_.size() >= count;
    }
    return true;
  }
  std::string text() const {
    const MutexLock lock(mutex_);
    return text_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::string text_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
