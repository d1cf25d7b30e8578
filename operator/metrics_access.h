#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/metrics/admin_server.h"
#include "base/mutex.h"
#include "operator/kube/api_client.h"

namespace pstrain {

/// Who may read the operator's metrics: the apiserver says whose the client's bearer token is
/// (TokenReview) and whether that user may `get` the non-resource URL of the page
/// (SubjectAccessReview), as controller-runtime's filter WithAuthenticationAndAuthorization asks.
///
/// A yes is kept for a minute, for 64 tokens at most; a token that was revoked reads that much
/// longer. At most 10 tokens a second are asked about, so that nobody can make the operator ask
/// more: clients beyond that get 503. Any thread; owned by RunOperator.
class MetricsAccess {
 public:
  /// Neither is owned. `client` should not try again, and answer within the admin server's
  /// deadline.
  MetricsAccess(kube::ApiClient& client, const Clock& clock) : client_(client), clock_(clock) {}

  /// For AdminServer::Options::access: nothing when the client may read; 401 without a token that
  /// the apiserver knows, 403 without the right, 503 when nobody could say.
  std::optional<HttpResponse> Check(const HttpRequest& request) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Known {
    std::string path;
    std::chrono::nanoseconds until{0};
  };

  bool IsKnown(const std::string& token, const std::string& path) PSTRAIN_EXCLUDES(mutex_);
  void Remember(const std::string& token, const std::string& path) PSTRAIN_EXCLUDES(mutex_);
  bool MayAsk() PSTRAIN_EXCLUDES(mutex_);

  kube::ApiClient& client_;
  const Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Known> known_ PSTRAIN_GUARDED_BY(mutex_);
  std::chrono::nanoseconds second_began_ PSTRAIN_GUARDED_BY(mutex_){0};
  int asked_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace pstrain
