#include "runtime/rpc/identity/identity.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/os/files.h"
#include "base/text/json.h"
#include "runtime/rpc/identity/base64url.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/published.h"
#include "runtime/rpc/identity/token_verifier.h"

namespace pstrain {
namespace {

constexpr std::size_t kLeastSecret = 16;
constexpr char kHeader[] = R"({"alg":"HS256","typ":"JWT"})";
constexpr char kLocalIssuer[] = "pstrain run";

/// Who is called, and as what.
std::optional<Audience> AudienceOf(Role role) {
  if (role == Role::kChief) return Audience::kChief;
  if (role == Role::kPs) return Audience::kPs;
  return std::nullopt;
}

std::unique_ptr<CallerVerifier> MakeVerifier(const IdentitySettings& settings, std::string issuer,
                                             CurrentKeys keys) {
  const std::optional<Audience> audience = AudienceOf(settings.self.role);
  if (!audience) return nullptr;
  return std::make_unique<TokenVerifier>(
      TokenPolicy{.issuer = std::move(issuer),
                  .audience = AudienceText(*audience, settings.job_uid),
                  .name_space = settings.tokens.empty() ? std::string() : settings.name_space,
                  .job_name = settings.job_name},
      std::move(keys));
}

Result<std::unique_ptr<Identity>> OpenShared(const IdentitySettings& settings) {
  PSTRAIN_ASSIGN_OR_RETURN(std::string secret, ReadFile(settings.key_file));
  if (secret.size() < kLeastSecret) {
    return InvalidArgumentError(settings.key_file + " has fewer than " +
                                std::to_string(kLeastSecret) + " bytes");
  }
  auto identity = std::make_unique<Identity>();
  identity->verifier = MakeVerifier(
      settings, kLocalIssuer,
      [keys = std::make_shared<const KeySet>(KeySet::Shared(secret))] { return keys; });
  identity->credentials = std::make_unique<SharedKeyCredentials>(
      std::move(secret), settings.job_name, settings.job_uid, settings.self);
  return identity;
}

Result<std::unique_ptr<Identity>> OpenProjected(const IdentitySettings& settings) {
  auto identity = std::make_unique<Identity>();
  auto tokens = std::make_unique<TokenFiles>(settings.tokens);
  // A pod without its tokens would fail with its first call: say it now.
  for (const Audience audience : {Audience::kChief, Audience::kPs}) {
    PSTRAIN_RETURN_IF_ERROR(tokens->Token(audience).status());
  }
  identity->credentials = std::move(tokens);
  identity->verifier = MakeVerifier(
      settings, settings.issuer,
      [keys = std::make_shared<PublishedKeys>(settings.jwks)] { return keys->Current(); });
  return identity;
}

}  // namespace

Result<std::unique_ptr<Identity>> OpenIdentity(const IdentitySettings& settings) {
  const bool shared = !settings.key_file.empty();
  const bool projected = !settings.tokens.empty();
  if (!shared && !projected) return std::unique_ptr<Identity>();
  if (shared && projected) return InvalidArgumentError("a key and tokens; give one of them");
  return shared ? OpenShared(settings) : OpenProjected(settings);
}

SharedKeyCredentials::SharedKeyCredentials(std::string secret, std::string job_name,
                                           std::string job_uid, Caller self, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock),
      secret_(std::move(secret)),
      job_name_(std::move(job_name)),
      job_uid_(std::move(job_uid)),
      self_(self) {}

Result<std::string> SharedKeyCredentials::Token(Audience audience) const {
  const std::int64_t now = clock_.UnixMillis() / 1000;
  const MutexLock lock(mutex_);
  Signed& kept = signed_[static_cast<std::size_t>(audience)];
  if (now < kept.renew) return kept.token;
  Json pod = Json::Object();
  pod.Set("name", Json::String(PodNameOf(job_name_, self_)));
  Json kubernetes = Json::Object();
  kubernetes.Set("pod", std::move(pod));
  Json claims = Json::Object();
  claims.Set("iss", Json::String(kLocalIssuer));
  claims.Set("aud", Json::String(AudienceText(audience, job_uid_)));
  claims.Set("exp", Json::Int(now + kLifetime.count()));
  claims.Set("kubernetes.io", std::move(kubernetes));
  std::string token = ToBase64Url(kHeader) + "." + ToBase64Url(WriteJson(claims));
  token += "." + ToBase64Url(SignShared(secret_, token));
  kept = {std::move(token), now + kLifetime.count() / 2};
  return kept.token;
}

}  // namespace pstrain
