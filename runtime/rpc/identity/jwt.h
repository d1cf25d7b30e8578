#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// A signed token as it is written (JWT, RFC 7519, in the compact form of RFC 7515), taken apart
/// and believed in nothing: the signature is still to be checked (key_set.h). Has what Kubernetes
/// puts into a projected token of a service account.
struct Jwt {
  std::string algorithm;
  /// Empty: none is named.
  std::string key_id;
  std::string issuer;
  std::vector<std::string> audiences;
  /// Unix seconds.
  std::int64_t expires = 0;
  /// 0: none.
  std::int64_t not_before = 0;
  /// The pod that the token was made for.
  std::string name_space;
  std::string pod;
  std::string pod_uid;
  /// What the signature is of.
  std::string signed_part;
  std::string signature;
};

/// Tokens are longer than this only by mistake.
inline constexpr std::size_t kMostTokenBytes = 12 << 10;

/// UNAUTHENTICATED, with the reason, for what is no such token. Pure; any thread.
Result<Jwt> ParseJwt(std::string_view token);

}  // namespace pstrain
