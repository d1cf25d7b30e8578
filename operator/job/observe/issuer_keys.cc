#include "operator/job/observe/issuer_keys.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

constexpr std::chrono::minutes kReadPeriod{5};
constexpr std::chrono::minutes kTryAgain{1};
/// For how long a failure that may pass by itself counts as one that will.
constexpr std::chrono::minutes kPatience{1};
/// Two reads have been missed.
constexpr std::chrono::minutes kStaleAfter{2 * kReadPeriod};

constexpr char kConfigurationPath[] = "/.well-known/openid-configuration";
constexpr char kKeysPath[] = "/openid/v1/jwks";

kube::ApiError Unusable(const std::string& path, const char* what) {
  kube::ApiError error;
  error.http_status = 200;
  error.message = path + " " + what;
  error.status = DataLossError(error.message);
  return error;
}

/// Why the keys cannot be read, and what to do about it.
struct Cause {
  const char* reason;
  std::string way_out;
};

Cause CauseOf(const kube::ApiError& error) {
  switch (error.status.code()) {
    case StatusCode::kPermissionDenied:
    case StatusCode::kUnauthenticated:
      return {.reason = "IssuerKeysForbidden",
              .way_out =
                  "bind the ClusterRole system:service-account-issuer-discovery to the operator's "
                  "service account, as Kubernetes does by default"};
    case StatusCode::kNotFound:
      return {
          .reason = "IssuerKeysNotPublished",
          .way_out = "let the apiserver serve them, with a --service-account-issuer that is a URL"};
    default:
      return {.reason = "IssuerKeysUnreadable",
              .way_out = std::string("see that the apiserver answers at ") + kKeysPath};
  }
}

Problem ProblemOf(const kube::ApiError& error) {
  Cause cause = CauseOf(error);
  return {.reason = cause.reason,
          .message =
              "replicas do not check who calls them: the operator cannot read the keys that "
              "service-account tokens are signed by (" +
              error.Words() + "); " + cause.way_out};
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

std::optional<Problem> IssuerKeyReader::StaleAt(plan::Time now, const kube::ApiError& error) const {
  const plan::Time since = read_.value_or(*failing_since_);
  if (now < since + kStaleAfter) return std::nullopt;
  const std::string time = plan::FormatTimestamp(since);
  return Problem{
      .reason = "KeysStale",
      .message =
          "replicas check each other by old keys: the keys that service-account tokens are "
          "signed by " +
          (read_ ? "were last read at " + time
                 : "have not been read since this operator began to, at " + time) +
          " (" + error.Words() + "); when the cluster changes its keys, replicas will " +
          "refuse each other; " + CauseOf(error).way_out};
}

Result<IssuerKeyReader::Reading> IssuerKeyReader::Failed(const kube::ApiError& error,
                                                         plan::Time now) {
  LogWarning("identity", "the keys of service-account tokens cannot be read",
             {{"error", error.status}});
  if (!failing_since_) failing_since_ = now;
  next_read_ = now + kTryAgain;
  if (last_ && last_->keys) {
    last_->stale = StaleAt(now, error);
    return *last_;
  }
  if (error.MayPass() && !last_ && now < *failing_since_ + kPatience) {
    next_read_ = now;
    return error.status;
  }
  last_ = Reading{.keys = nullptr, .problem = ProblemOf(error), .stale = StaleAt(now, error)};
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
  read_ = now;
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
