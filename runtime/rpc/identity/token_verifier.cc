#include "runtime/rpc/identity/token_verifier.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/text/parse_number.h"
#include "runtime/rpc/identity/unauthenticated.h"
#include "runtime/stats/unknown_key.h"

namespace pstrain {
namespace {

/// Good tokens that are remembered: more than a job has replicas, in two generations.
constexpr std::size_t kMostKnown = 1 << 16;

/// A whole number as std::to_string writes it.
std::optional<std::uint32_t> ReadNumber(std::string_view text) {
  const auto number = ParseNumber<std::uint32_t>(text);
  return number && std::to_string(*number) == text ? number : std::nullopt;
}

}  // namespace

Result<Caller> CallerOfPod(std::string_view job_name, std::string_view pod) {
  const Status foreign = PermissionDeniedError("the token is of a pod that is not of this job");
  if (!pod.starts_with(job_name) || pod.size() <= job_name.size() || pod[job_name.size()] != '-') {
    return foreign;
  }
  pod.remove_prefix(job_name.size() + 1);
  const std::size_t dash = pod.find('-');
  if (dash == pod.npos) return foreign;
  const std::optional<Role> role = RoleFromName(pod.substr(0, dash));
  pod.remove_prefix(dash + 1);
  const std::size_t second = pod.find('-');
  const auto index = ReadNumber(pod.substr(0, second));
  std::optional<std::uint32_t> attempt = 0;
  if (second != pod.npos) attempt = ReadNumber(pod.substr(second + 1));
  // The first attempt has no number.
  if (!role || !index || !attempt || (second != pod.npos && *attempt == 0)) return foreign;
  return Caller{*role, *index, *attempt, 0};
}

std::string PodNameOf(std::string_view job_name, const Caller& caller) {
  std::string name(job_name);
  name += '-';
  name += RoleName(caller.role);
  name += '-' + std::to_string(caller.index);
  if (caller.attempt > 0) name += '-' + std::to_string(caller.attempt);
  return name;
}

TokenVerifier::TokenVerifier(TokenPolicy policy, CurrentKeys keys, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock),
      policy_(std::move(policy)),
      keys_(std::move(keys)) {}

Status TokenVerifier::CheckClaims(const Jwt& jwt) const {
  if (!policy_.issuer.empty() && jwt.issuer != policy_.issuer) {
    return UnauthenticatedError("the token has another issuer than " + policy_.issuer);
  }
  if (std::ranges::count(jwt.audiences, policy_.audience) == 0) {
    return PermissionDeniedError("the token is not for " + policy_.audience);
  }
  const std::int64_t now = Now();
  if (now > jwt.expires + kLeeway.count()) return UnauthenticatedError("the token has expired");
  if (now < jwt.not_before - kLeeway.count()) {
    return UnauthenticatedError("the token is not good yet");
  }
  return OkStatus();
}

Result<Caller> TokenVerifier::Read(const Jwt& jwt) const {
  const std::shared_ptr<const KeySet> keys = keys_();
  if (keys == nullptr) return UnknownKeyError("there are no keys yet");
  const Status signature = keys->Check(jwt);
  if (signature.code() == StatusCode::kNotFound) {
    return UnknownKeyError("it may be published soon; try again");
  }
  PSTRAIN_RETURN_IF_ERROR(signature);
  PSTRAIN_RETURN_IF_ERROR(CheckClaims(jwt));
  if (!policy_.name_space.empty() && jwt.name_space != policy_.name_space) {
    return PermissionDeniedError("the token is of a pod of another namespace than " +
                                 policy_.name_space);
  }
  PSTRAIN_ASSIGN_OR_RETURN(Caller caller, CallerOfPod(policy_.job_name, jwt.pod));
  caller.expires = jwt.expires + kLeeway.count();
  return caller;
}

Status TokenVerifier::TakePod(const Caller& caller, const std::string& uid) {
  const auto [pod, first] = pods_.try_emplace({caller.role, caller.index, caller.attempt}, uid);
  if (first || pod->second == uid) return OkStatus();
  return PermissionDeniedError("another pod was " + PodNameOf(policy_.job_name, caller) +
                               " before");
}

Result<Caller> TokenVerifier::Verify(std::string_view token) {
  if (token.size() > kMostTokenBytes) return UnauthenticatedError("the token is too long");
  std::string key(token);
  {
    const MutexLock lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) {
      if (CheckStillGood(known->second).ok()) return known->second;
      known_.erase(known);
    }
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Jwt jwt, ParseJwt(token));
  PSTRAIN_ASSIGN_OR_RETURN(const Caller caller, Read(jwt));
  const MutexLock lock(mutex_);
  PSTRAIN_RETURN_IF_ERROR(TakePod(caller, jwt.pod_uid));
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(std::move(key), caller);
  return caller;
}

Status TokenVerifier::CheckStillGood(const Caller& caller) const {
  if (Now() <= caller.expires) return OkStatus();
  return UnauthenticatedError("the caller's token has expired");
}

}  // namespace pstrain
