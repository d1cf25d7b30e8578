#include "runtime/rpc/grpc/call_identity.h"

#include <algorithm>
#include <string>

namespace pstrain {
namespace {

std::string NameOf(const Caller& caller) {
  return std::string(RoleName(caller.role)) + " " + std::to_string(caller.index) + ", attempt " +
         std::to_string(caller.attempt);
}

}  // namespace

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

Result<std::optional<Caller>> AdmitCaller(CallerVerifier* verifier, std::string_view authorization,
                                          std::span<const Role> roles) {
  if (verifier == nullptr) return std::optional<Caller>();
  PSTRAIN_ASSIGN_OR_RETURN(const Caller caller, VerifyBearer(*verifier, authorization));
  if (std::ranges::count(roles, caller.role) == 0) {
    return PermissionDeniedError(NameOf(caller) + " may not call this");
  }
  return std::optional<Caller>(caller);
}

Status CheckSpeaksFor(const std::optional<Caller>& caller, const SpokenFor& replica) {
  if (!caller) return OkStatus();
  if (replica.index.value_or(caller->index) == caller->index &&
      replica.attempt.value_or(caller->attempt) == caller->attempt) {
    return OkStatus();
  }
  return PermissionDeniedError(NameOf(*caller) + " speaks for another replica than itself");
}

}  // namespace pstrain
