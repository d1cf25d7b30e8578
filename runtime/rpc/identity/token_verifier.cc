#include "runtime/rpc/identity/token_verifier.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/text/parse_number.h"
#include "runtime/rpc/identity/unauthenticated.h"
#include "runtime/stats/token_errors.h"

namespace pstrain {
namespace {

/// Each call remembers at most one token: so those that have expired become fewer.
constexpr int kForgottenPerCall = 2;

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
  return OkStatus();
}

Status TokenVerifier::CheckTimes(const Jwt& jwt) const {
  const std::int64_t now = Now();
  if (now > jwt.expires + kLeeway.count()) {
    return PassingTokenError(kWrongTime, "it expired " + std::to_string(now - jwt.expires) +
                                             " s ago; come again with the next one");
  }
  if (now < jwt.not_before - kLeeway.count()) {
    return PassingTokenError(kWrongTime, "it is good in " + std::to_string(jwt.not_before - now) +
                                             " s, by the clock here");
  }
  return OkStatus();
}

Result<Caller> TokenVerifier::Read(const Jwt& jwt) const {
  const std::shared_ptr<const KeySet> keys = keys_();
  if (keys == nullptr) return PassingTokenError(kUnknownKey, "there are no keys yet");
  const Status signature = keys->Check(jwt);
  if (signature.code() == StatusCode::kNotFound) {
    return PassingTokenError(kUnknownKey, "it may be published soon; try again");
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

Status TokenVerifier::CheckPod(const Caller& caller, const std::string& uid) const {
  const auto pod = pods_.find({caller.role, caller.index, caller.attempt});
  if (pod == pods_.end() || pod->second == uid) return OkStatus();
  return PermissionDeniedError("another pod was " + PodNameOf(policy_.job_name, caller) +
                               " before");
}

Result<Caller> TokenVerifier::Verify(std::string_view token) {
  if (token.size() > kMostTokenBytes) return UnauthenticatedError("the token is too long");
  std::string key(token);
  {
    const MutexLock lock(mutex_);
    if (const auto caller = Remembered(key)) return *caller;
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Jwt jwt, ParseJwt(token));
  PSTRAIN_ASSIGN_OR_RETURN(const Caller caller, Read(jwt));
  const MutexLock lock(mutex_);
  PSTRAIN_RETURN_IF_ERROR(CheckPod(caller, jwt.pod_uid));
  // Last of all: who comes again with another token of the same pod is let in then.
  PSTRAIN_RETURN_IF_ERROR(CheckTimes(jwt));
  pods_.try_emplace({caller.role, caller.index, caller.attempt}, jwt.pod_uid);
  Remember(std::move(key), caller);
  return caller;
}

std::optional<Caller> TokenVerifier::Remembered(const std::string& token) {
  const std::int64_t now = Now();
  for (int i = 0; i < kForgottenPerCall; ++i) {
    if (by_expiry_.empty() || by_expiry_.begin()->first >= now) break;
    ForgetFirst();
  }
  const auto known = known_.find(token);
  if (known == known_.end() || !CheckStillGood(known->second).ok()) return std::nullopt;
  return known->second;
}

void TokenVerifier::Remember(std::string token, const Caller& caller) {
  if (known_.size() >= policy_.most_remembered) ForgetFirst();
  const auto [known, is_new] = known_.try_emplace(std::move(token), caller);
  if (is_new) by_expiry_.emplace(caller.expires, known->first);
}

void TokenVerifier::ForgetFirst() {
  const auto first = by_expiry_.begin();
  known_.erase(known_.find(std::string(first->second)));
  by_expiry_.erase(first);
}

std::size_t TokenVerifier::remembered() const {
  const MutexLock lock(mutex_);
  return known_.size();
}

Status TokenVerifier::CheckStillGood(const Caller& caller) const {
  if (Now() <= caller.expires) return OkStatus();
  return PassingTokenError(kWrongTime, "the caller's has expired; come again with the next one");
}

}  // namespace pstrain
