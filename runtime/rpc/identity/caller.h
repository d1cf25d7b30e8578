#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/roles.h"

namespace pstrain {

class MutualTls;

/// Who a call comes from, as its token proves.
struct Caller {
  Role role = Role::kWorker;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  /// The token is good until then: Unix seconds, the leeway included.
  std::int64_t expires = 0;

  friend bool operator==(const Caller&, const Caller&) = default;
};

/// Whom a token is for: one that a ps has received is useless at the chief, and the reverse.
enum class Audience : std::uint8_t { kChief, kPs };

constexpr Role RoleOf(Audience audience) {
  return audience == Audience::kChief ? Role::kChief : Role::kPs;
}

/// The audience as tokens name it: "pstrain.dev/<job uid>/chief" or ".../ps".
std::string AudienceText(Audience audience, std::string_view job_uid);

/// What this process shows to the others. Any thread.
class Credentials {
 public:
  virtual ~Credentials() = default;
  /// A token that is good now; empty where replicas show none. The error of the file that it is
  /// read from.
  virtual Result<std::string> Token(Audience audience) const = 0;
  /// What its connections are encrypted with (runtime/rpc/grpc/tls.h); null: they are not.
  virtual const MutualTls* tls() const { return nullptr; }
  /// Somebody else replaces the tokens before they expire, or does not.
  virtual bool OthersRenew() const { return false; }
  /// With OthersRenew: Unix seconds at which the first of its tokens expires; nothing when no token
  /// says so.
  virtual std::optional<std::int64_t> Expires() const { return std::nullopt; }
};

/// Whether a token is of a replica of this job, and of which. Of one audience. Any thread; must not
/// block.
class CallerVerifier {
 public:
  virtual ~CallerVerifier() = default;
  /// UNAUTHENTICATED: none, or not signed by the issuer; the message says which.
  /// PERMISSION_DENIED: of another job, audience or pod. UNAVAILABLE: its key may be published
  /// soon, or it is right in all but the time (runtime/stats/token_errors.h): the caller is to come
  /// again.
  virtual Result<Caller> Verify(std::string_view token) = 0;
  /// UNAVAILABLE, as by Verify, once the caller's token has expired: for streams, which outlive the
  /// call that brought the token.
  virtual Status CheckStillGood(const Caller& caller) const = 0;
};

/// How a token travels: the value of the header `authorization`.
inline constexpr char kAuthorizationHeader[] = "authorization";
std::string Bearer(std::string_view token);
/// Verify for the value of that header; UNAUTHENTICATED when it is of another form.
Result<Caller> VerifyBearer(CallerVerifier& verifier, std::string_view authorization);

}  // namespace pstrain
