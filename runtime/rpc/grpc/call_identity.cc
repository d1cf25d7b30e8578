#include "runtime/rpc/grpc/call_identity.h"

#include <algorithm>
#include <string>

namespace pstrain {

Status AddToken(const Credentials* credentials, Audience audience, grpc::ClientContext& call) {
  if (credentials == nullptr) return OkStatus();
  PSTRAIN_ASSIGN_OR_RETURN(const std::string token, credentials->Token(audience));
  if (token.empty()) return OkStatus();
  call.AddMetadata(kAuthorizationHeader, Bearer(token));
  return OkStatus();
}

std::string_view AuthorizationOf(const grpc::ServerContextBase& call) {
  const auto& metadata = call.client_metadata();
  const auto found = metadata.find(kAuthorizationHeader);
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

Status CheckCaller(const grpc::ServerContextBase& call, CallerVerifier* verifier,
                   const CallRule& rule) {
  if (verifier == nullptr) return OkStatus();
  PSTRAIN_ASSIGN_OR_RETURN(const Caller caller, VerifyBearer(*verifier, AuthorizationOf(call)));
  const std::string who = std::string(RoleName(caller.role)) + " " + std::to_string(caller.index) +
                          ", attempt " + std::to_string(caller.attempt);
  if (std::ranges::count(rule.roles, caller.role) == 0) {
    return PermissionDeniedError(who + " may not call this");
  }
  if ((rule.index && *rule.index != caller.index) ||
      (rule.attempt && *rule.attempt != caller.attempt)) {
    return PermissionDeniedError(who + " speaks for another replica than itself");
  }
  return OkStatus();
}

}  // namespace pstrain
