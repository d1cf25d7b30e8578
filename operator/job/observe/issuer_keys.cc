#include "operator/job/observe/issuer_keys.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "operator/kube/json_fields.h"

namespace pstrain::job {
namespace {

constexpr std::chrono::minutes kReadPeriod{5};
constexpr std::chrono::minutes kTryAgain{1};
/// For how long a failure that may pass by itself counts as one that will.
constexpr std::chrono::minutes kPatience{1};

constexpr char kConfigurationPath[] = "/.well-known/openid-configuration";
constexpr char kKeysPath[] = "/openid/v1/jwks";

kube::ApiError Unusable(const std::string& path, const char* what) {
  kube::ApiError error;
  error.http_status = 200;
  error.message = path + " " + what;
  error.status = DataLossError(error.message);
  return error;
}

Problem ProblemOf(const kube::ApiError& error) {
  const std::string lead =
      "replicas do not check who calls them: the operator cannot read the keys that "
      "service-account tokens are signed by (" +
      error.Words() + "); ";
  switch (error.status.code()) {
    case StatusCode::kPermissionDenied:
    case StatusCode::kUnauthenticated:
      return {.reason = "IssuerKeysForbidden",
              .message = lead +
                         "bind the ClusterRole system:service-account-issuer-discovery to the "
                         "operator's service account, as Kubernetes does by default"};
    case StatusCode::kNotFound:
      return {.reason = "IssuerKeysNotPublished",
              .message = lead +
                         "let the apiserver serve them, with a --service-account-issuer "
                         "that is a URL"};
    default:
      return {.reason = "IssuerKeysUnreadable",
              .message = lead + "see that the apiserver answers at " + kKeysPath};
  }
}

}  // namespace

kube::ApiResult<IssuerKeys> IssuerKeyReader::Fetch(const std::stop_token& stop) {
  kube::ApiResult<Json> configuration = client_.GetPage(kConfigurationPath, stop);
  if (!configuration.ok()) return configuration.TakeError();
  IssuerKeys keys;
  keys.issuer = kube::TextOrEmpty(*configuration, "issuer");
  if (keys.issuer.empty()) return Unusable(kConfigurationPath, "names no issuer");
  kube::ApiResult<Json> set = client_.GetPage(kKeysPath, stop);
  if (!set.ok()) return set.TakeError();
  const Json* list = set->Find("keys");
  if (list == nullptr || !list->is_array() || list->size() == 0) {
    return Unusable(kKeysPath, "has no keys");
  }
  keys.jwks = WriteJson(*set);
  return keys;
}

Result<IssuerKeyReader::Reading> IssuerKeyReader::Failed(const kube::ApiError& error,
                                                         plan::Time now) {
  LogWarning("identity", "the keys of service-account tokens cannot be read",
             {{"error", error.status}});
  if (!failing_since_) failing_since_ = now;
  next_read_ = now + kTryAgain;
  if (last_ && last_->keys) return *last_;
  if (error.MayPass() && !last_ && now < *failing_since_ + kPatience) {
    next_read_ = now;
    return error.status;
  }
  last_ = Reading{.keys = nullptr, .problem = ProblemOf(error)};
  return *last_;
}

Result<IssuerKeyReader::Reading> IssuerKeyReader::Read(plan::Time now,
                                                       const std::stop_token& stop) {
  {
    const MutexLock lock(mutex_);
    if (last_ && (reading_ || now < next_read_)) return *last_;
    if (reading_) return UnavailableError("the keys of service-account tokens are being read");
    reading_ = true;
  }
  kube::ApiResult<IssuerKeys> fetched = Fetch(stop);
  const MutexLock lock(mutex_);
  reading_ = false;
  if (!fetched.ok()) return Failed(fetched.error(), now);
  failing_since_.reset();
  next_read_ = now + kReadPeriod;
  last_ = Reading{.keys = std::make_shared<const IssuerKeys>(std::move(fetched).value()),
                  .problem = std::nullopt};
  return *last_;
}

std::optional<IssuerKeyReader::Reading> IssuerKeyReader::Last() const {
  const MutexLock lock(mutex_);
  return last_;
}

plan::Time IssuerKeyReader::NextRead() const {
  const MutexLock lock(mutex_);
  return next_read_;
}

}  // namespace pstrain::job
