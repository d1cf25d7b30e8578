#include "runtime/rpc/identity/jwt.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "base/text/json.h"
#include "runtime/rpc/identity/base64url.h"
#include "runtime/rpc/identity/unauthenticated.h"

namespace pstrain {
namespace {

/// More levels and audiences than any token has.
constexpr JsonParseOptions kJson{.max_depth = 8, .max_bytes = kMostTokenBytes};
constexpr std::size_t kMostAudiences = 16;

Status Bad(const char* what) { return UnauthenticatedError(std::string("the token ") + what); }

Result<Json> ReadPart(std::string_view part) {
  const std::optional<std::string> text = FromBase64Url(part);
  if (!text) return Bad("is not base64url");
  Result<Json> json = ParseJson(*text, kJson);
  if (!json.ok() || !json->is_object()) return Bad("has a part that is not a JSON object");
  return json;
}

/// The text of a member; empty when it is absent.
Result<std::string> Text(const Json& object, const char* key) {
  const Json* member = object.Find(key);
  if (member == nullptr) return std::string();
  if (member->AsString() == nullptr) return Bad("has a claim that is not a text");
  return *member->AsString();
}

Result<std::int64_t> Seconds(const Json& object, const char* key) {
  const Json* member = object.Find(key);
  if (member == nullptr) return std::int64_t{0};
  const std::optional<std::int64_t> seconds = member->AsInt64();
  if (!seconds || *seconds < 0) return Bad("has a time that is not in seconds");
  return *seconds;
}

Result<std::vector<std::string>> Audiences(const Json& claims) {
  const Json* member = claims.Find("aud");
  if (member == nullptr) return Bad("names no audience");
  if (member->AsString() != nullptr) return std::vector{*member->AsString()};
  if (!member->is_array() || member->size() > kMostAudiences) return Bad("has bad audiences");
  std::vector<std::string> audiences;
  for (const Json& item : member->items()) {
    if (item.AsString() == nullptr) return Bad("has bad audiences");
    audiences.push_back(*item.AsString());
  }
  return audiences;
}

Status ReadHeader(const Json& header, Jwt* jwt) {
  // An extension that must be understood, and is not.
  if (header.Find("crit") != nullptr) return Bad("has critical extensions");
  PSTRAIN_ASSIGN_OR_RETURN(jwt->algorithm, Text(header, "alg"));
  PSTRAIN_ASSIGN_OR_RETURN(jwt->key_id, Text(header, "kid"));
  return OkStatus();
}

Status ReadClaims(const Json& claims, Jwt* jwt) {
  PSTRAIN_ASSIGN_OR_RETURN(jwt->issuer, Text(claims, "iss"));
  PSTRAIN_ASSIGN_OR_RETURN(jwt->audiences, Audiences(claims));
  PSTRAIN_ASSIGN_OR_RETURN(jwt->expires, Seconds(claims, "exp"));
  PSTRAIN_ASSIGN_OR_RETURN(jwt->not_before, Seconds(claims, "nbf"));
  if (jwt->expires == 0) return Bad("does not say when it expires");
  const Json* kubernetes = claims.Find("kubernetes.io");
  const Json* pod = kubernetes == nullptr ? nullptr : kubernetes->Find("pod");
  if (pod == nullptr) return Bad("is of no pod");
  PSTRAIN_ASSIGN_OR_RETURN(jwt->name_space, Text(*kubernetes, "namespace"));
  PSTRAIN_ASSIGN_OR_RETURN(jwt->pod, Text(*pod, "name"));
  PSTRAIN_ASSIGN_OR_RETURN(jwt->pod_uid, Text(*pod, "uid"));
  return OkStatus();
}

}  // namespace

Result<Jwt> ParseJwt(std::string_view token) {
  if (token.size() > kMostTokenBytes) return Bad("is too long");
  const std::size_t first = token.find('.');
  const std::size_t second = first == token.npos ? first : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) {
    return Bad("has not three parts");
  }
  Jwt jwt;
  PSTRAIN_ASSIGN_OR_RETURN(const Json header, ReadPart(token.substr(0, first)));
  PSTRAIN_ASSIGN_OR_RETURN(const Json claims,
                           ReadPart(token.substr(first + 1, second - first - 1)));
  std::optional<std::string> signature = FromBase64Url(token.substr(second + 1));
  if (!signature) return Bad("is not base64url");
  PSTRAIN_RETURN_IF_ERROR(ReadHeader(header, &jwt));
  PSTRAIN_RETURN_IF_ERROR(ReadClaims(claims, &jwt));
  jwt.signed_part = token.substr(0, second);
  jwt.signature = *std::move(signature);
  return jwt;
}

}  // namespace pstrain
