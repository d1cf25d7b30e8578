#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/rpc/identity/jwt.h"

struct evp_pkey_st;

namespace pstrain {

/// The keys whose signatures count: either one secret that all replicas of a run on one machine
/// share (HS256), or the public keys of an issuer by their ids (RS256, ES256; RFC 7518). A set of
/// one kind never accepts the other's algorithm. Immutable; any thread. The signatures are
/// OpenSSL's.
class KeySet {
 public:
  /// REQUIRES: at least 16 bytes.
  static KeySet Shared(std::string secret);
  /// From a JSON Web Key Set (RFC 7517), as an apiserver serves at /openid/v1/jwks. Keys of other
  /// kinds are passed over. INVALID_ARGUMENT when it is none, or has no key of these kinds.
  static Result<KeySet> FromJwks(std::string_view json);

  /// NOT_FOUND: no key of that id. UNAUTHENTICATED: another algorithm, or a wrong signature.
  Status Check(const Jwt& jwt) const;

 private:
  std::string secret_;
  struct Key {
    std::string algorithm;
    std::shared_ptr<evp_pkey_st> key;
  };
  std::map<std::string, Key> keys_;
};

/// The signature of a Shared set.
std::string SignShared(std::string_view secret, std::string_view signed_part);

}  // namespace pstrain
