#include "operator/metrics_access.h"

#include <stop_token>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/text/json.h"
#include "operator/kube/json_fields.h"

namespace pstrain {
namespace {

constexpr std::chrono::seconds kKeptFor{60};
constexpr std::size_t kMostKept = 64;
constexpr int kAsksPerSecond = 10;

const kube::Resource& TokenReviews() {
  static const kube::Resource resource{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                       false};
  return resource;
}

const kube::Resource& AccessReviews() {
  static const kube::Resource resource{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                       "SubjectAccessReview", false};
  return resource;
}

Json Review(const kube::Resource& resource, Json spec) {
  Json review = Json::Object();
  review.Set("apiVersion", Json::String(resource.ApiVersion()));
  review.Set("kind", Json::String(resource.kind));
  review.Set("spec", std::move(spec));
  return review;
}

Json TokenSpec(const std::string& token) {
  Json spec = Json::Object();
  spec.Set("token", Json::String(token));
  return spec;
}

/// `user` is what a TokenReview said.
Json AccessSpec(const Json& user, const std::string& path) {
  Json spec = Json::Object();
  spec.Set("user", Json::String(kube::TextOrEmpty(user, "username")));
  for (const std::string_view member : {"uid", "groups", "extra"}) {
    if (const Json* value = user.Find(member)) spec.Set(member, *value);
  }
  Json attributes = Json::Object();
  attributes.Set("path", Json::String(path));
  attributes.Set("verb", Json::String("get"));
  spec.Set("nonResourceAttributes", std::move(attributes));
  return spec;
}

bool StatusSays(const Json& review, std::string_view member) {
  const Json* value = kube::FindPath(review, {"status", member});
  return value != nullptr && value->AsBool().value_or(false);
}

/// Empty without one.
std::string BearerToken(const std::string& authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return {};
  return authorization.substr(kScheme.size());
}

HttpResponse Refusal(int status, std::string reason) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(reason) + "\n";
  return response;
}

HttpResponse Unavailable(const Status& status) {
  LogWarning("operator", "cannot ask who reads the metrics", {{"error", status}});
  return Refusal(503, "the apiserver could not be asked about the token; try again");
}

}  // namespace

bool MetricsAccess::IsKnown(const std::string& token, const std::string& path) {
  const MutexLock lock(mutex_);
  const auto known = known_.find(token);
  return known != known_.end() && known->second.path == path && clock_.Now() < known->second.until;
}

void MetricsAccess::Remember(const std::string& token, const std::string& path) {
  const MutexLock lock(mutex_);
  const std::chrono::nanoseconds now = clock_.Now();
  std::erase_if(known_, [now](const auto& entry) { return now >= entry.second.until; });
  if (known_.size() >= kMostKept) return;
  known_[token] = {.path = path, .until = now + kKeptFor};
}

bool MetricsAccess::MayAsk() {
  const MutexLock lock(mutex_);
  const std::chrono::nanoseconds now = clock_.Now();
  if (now - second_began_ >= std::chrono::seconds(1)) {
    second_began_ = now;
    asked_ = 0;
  }
  return ++asked_ <= kAsksPerSecond;
}

std::optional<HttpResponse> MetricsAccess::Check(const HttpRequest& request) {
  const std::string token = BearerToken(request.authorization);
  if (token.empty()) return Refusal(401, "a bearer token is needed");
  if (IsKnown(token, request.path)) return std::nullopt;
  if (!MayAsk()) return Refusal(503, "too many tokens were asked about; try again");
  const auto whose = client_.Review(TokenReviews(), Review(TokenReviews(), TokenSpec(token)), {});
  if (!whose.ok()) return Unavailable(whose.status());
  const Json* user = kube::FindPath(*whose, {"status", "user"});
  if (!StatusSays(*whose, "authenticated") || user == nullptr) {
    return Refusal(401, "the token is not known");
  }
  const auto may =
      client_.Review(AccessReviews(), Review(AccessReviews(), AccessSpec(*user, request.path)), {});
  if (!may.ok()) return Unavailable(may.status());
  if (!StatusSays(*may, "allowed")) {
    return Refusal(403, kube::TextOrEmpty(*user, "username") + " may not get " + request.path +
                            "; bind a ClusterRole with this nonResourceURL to it");
  }
  Remember(token, request.path);
  return std::nullopt;
}

}  // namespace pstrain
