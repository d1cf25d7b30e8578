#include "operator/kube/http/auth_transport.h"

#include <utility>

namespace pstrain::kube {
namespace {
constexpr int kUnauthorized = 401;
}

template <typename Pass>
Result<HttpReply> AuthTransport::WithToken(const HttpRequest& request, Pass pass) {
  HttpRequest own = request;
  PSTRAIN_ASSIGN_OR_RETURN(own.bearer, credentials_.Token());
  const int certificate = credentials_.CertificateNumber();
  Result<HttpReply> reply = pass(own);
  if (!reply.ok() || reply->status != kUnauthorized || !credentials_.DropToken()) return reply;
  PSTRAIN_ASSIGN_OR_RETURN(Secret fresh, credentials_.Token());
  if (fresh == own.bearer && certificate == credentials_.CertificateNumber()) return reply;
  own.bearer = std::move(fresh);
  return pass(own);
}

Result<HttpReply> AuthTransport::Send(const HttpRequest& request, const std::stop_token& stop) {
  return WithToken(request, [&](const HttpRequest& own) { return next_.Send(own, stop); });
}

Result<HttpReply> AuthTransport::Stream(const HttpRequest& request, ByteSink& sink,
                                        const std::stop_token& stop) {
  return WithToken(request, [&](const HttpRequest& own) { return next_.Stream(own, sink, stop); });
}

}  // namespace pstrain::kube
