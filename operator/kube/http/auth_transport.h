#pragma once

#include <stop_token>

#include "operator/kube/http/credentials.h"
#include "operator/kube/http/transport.h"

namespace pstrain::kube {

/// Adds the bearer token of now to each request, and tries once more with a freshly read one, or
/// another client certificate of a plugin, after a 401. In front of another transport; any thread.
/// Errors of Credentials::Token are returned.
class AuthTransport final : public Transport {
 public:
  /// Neither is owned.
  AuthTransport(Transport& next, Credentials& credentials)
      : next_(next), credentials_(credentials) {}

  Result<HttpReply> Send(const HttpRequest& request, const std::stop_token& stop) override;
  Result<HttpReply> Stream(const HttpRequest& request, ByteSink& sink,
                           const std::stop_token& stop) override;

 private:
  template <typename Pass>
  Result<HttpReply> WithToken(const HttpRequest& request, Pass pass);

  Transport& next_;
  Credentials& credentials_;
};

}  // namespace pstrain::kube
