#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/identity/jwt.h"
#include "runtime/rpc/identity/key_set.h"

namespace pstrain {

/// Which tokens count.
struct TokenPolicy {
  /// Must be the token's `iss`; empty: any.
  std::string issuer;
  /// Must be among the token's audiences (AudienceText).
  std::string audience;
  /// Of the job's pods: anybody may ask for tokens of any audience, for pods of their own
  /// namespace. Empty: any.
  std::string name_space = {};
  /// Pods are named <job>-<role>-<index>[-<attempt>].
  std::string job_name;
  /// Good tokens that are remembered: more than a job has replicas, in two generations.
  std::size_t most_remembered = 1 << 16;
};

/// The keys as they are now; called again for each token that is new.
using CurrentKeys = std::function<std::shared_ptr<const KeySet>()>;

/// Reads tokens of a job's pods: signature, issuer, audience, times with a leeway of 60 s, and the
/// pod's name, which says role, index and attempt. Of each attempt the first pod uid that comes is
/// the pod: another one is refused. A token that was good is remembered until it expires, so that
/// its signature is checked once and not for each call; each call forgets at most two that have
/// expired. A token that is right in all but the time is to come again
/// (runtime/stats/token_errors.h). Any thread.
class TokenVerifier final : public CallerVerifier {
 public:
  /// `clock`: null for the machine's; outlives it.
  TokenVerifier(TokenPolicy policy, CurrentKeys keys, const Clock* clock = nullptr);

  Result<Caller> Verify(std::string_view token) override;
  Status CheckStillGood(const Caller& caller) const override;

  /// Tokens that are remembered; of more the one that expires first is forgotten.
  std::size_t remembered() const PSTRAIN_EXCLUDES(mutex_);

  static constexpr std::chrono::seconds kLeeway{60};

 private:
  using Attempt = std::tuple<Role, std::uint32_t, std::uint32_t>;

  std::int64_t Now() const { return clock_.UnixMillis() / 1000; }
  Result<Caller> Read(const Jwt& jwt) const;
  Status CheckClaims(const Jwt& jwt) const;
  Status CheckTimes(const Jwt& jwt) const;
  /// PERMISSION_DENIED when another pod was this attempt before.
  Status CheckPod(const Caller& caller, const std::string& uid) const PSTRAIN_REQUIRES(mutex_);
  std::optional<Caller> Remembered(const std::string& token) PSTRAIN_REQUIRES(mutex_);
  void Remember(std::string token, const Caller& caller) PSTRAIN_REQUIRES(mutex_);
  void ForgetFirst() PSTRAIN_REQUIRES(mutex_);

  const RealClock real_clock_;
  const Clock& clock_;
  const TokenPolicy policy_;
  const CurrentKeys keys_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, Caller> known_ PSTRAIN_GUARDED_BY(mutex_);
  /// The keys of known_, by the time when they expire.
  std::multimap<std::int64_t, std::string_view> by_expiry_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<Attempt, std::string> pods_ PSTRAIN_GUARDED_BY(mutex_);
};

/// Role, index and attempt that a pod's name says; `expires` is 0. PERMISSION_DENIED for a name
/// that no pod of the job has. Pure.
Result<Caller> CallerOfPod(std::string_view job_name, std::string_view pod);
/// The reverse.
std::string PodNameOf(std::string_view job_name, const Caller& caller);

}  // namespace pstrain
