#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// Where this process' identity comes from. One of two ways, or none:
///
///   key_file     `pstrain run`: a secret that the replicas of one run share; each signs its own
///                tokens
///   tokens, jwks a cluster: the folder of the projected tokens `chief` and `ps`, and the file with
///                the issuer's public keys; both change while the process runs
struct IdentitySettings {
  std::string key_file = {};
  std::string tokens = {};
  std::string jwks = {};
  /// Of the tokens; empty: any.
  std::string issuer = {};
  /// Of the job's pods, with `tokens`; empty: any.
  std::string name_space = {};
  std::string job_name = {};
  /// What audiences are made of: the job's uid, or the run id of `pstrain run`.
  std::string job_uid = {};
  /// This process; `expires` means nothing.
  Caller self = {};
};

/// What this process shows to the others, and how it reads what they show. `verifier` is null for
/// roles that nobody calls, and where replicas show no tokens; `tls` where connections are not
/// encrypted.
struct Identity {
  std::shared_ptr<const MutualTls> tls;
  std::unique_ptr<Credentials> credentials;
  std::unique_ptr<CallerVerifier> verifier;
};

/// These three: null without an identity.
inline CallerVerifier* VerifierOf(const Identity* identity) {
  return identity == nullptr ? nullptr : identity->verifier.get();
}
inline const MutualTls* TlsOf(const Identity* identity) {
  return identity == nullptr ? nullptr : identity->tls.get();
}
inline const Credentials* CredentialsOf(const Identity* identity) {
  return identity == nullptr ? nullptr : identity->credentials.get();
}

/// Null when the settings name neither a key nor tokens: then nobody is asked who they are. Errors
/// name the file. INVALID_ARGUMENT: both ways, or a key that is too short.
Result<std::unique_ptr<Identity>> OpenIdentity(const IdentitySettings& settings);

/// Tokens that this process signs with the run's secret. Signs again when a token has half of its
/// life behind it. Any thread.
class SharedKeyCredentials final : public Credentials {
 public:
  /// `clock`: null for the machine's; outlives it.
  SharedKeyCredentials(std::string secret, std::string job_name, std::string job_uid, Caller self,
                       const Clock* clock = nullptr);
  Result<std::string> Token(Audience audience) const override;

  static constexpr std::chrono::seconds kLifetime{3600};

 private:
  struct Signed {
    std::string token;
    std::int64_t renew = 0;
  };

  const RealClock real_clock_;
  const Clock& clock_;
  const std::string secret_;
  const std::string job_name_;
  const std::string job_uid_;
  const Caller self_;
  mutable Mutex mutex_;
  mutable Signed signed_[2] PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
