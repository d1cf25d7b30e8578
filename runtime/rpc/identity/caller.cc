#include "runtime/rpc/identity/caller.h"

#include "runtime/rpc/identity/unauthenticated.h"

namespace pstrain {
namespace {

constexpr std::string_view kScheme = "Bearer ";

}  // namespace

std::string AudienceText(Audience audience, std::string_view job_uid) {
  return "pstrain.dev/" + std::string(job_uid) + "/" + std::string(RoleName(RoleOf(audience)));
}

std::string Bearer(std::string_view token) { return std::string(kScheme) + std::string(token); }

Result<Caller> VerifyBearer(CallerVerifier& verifier, std::string_view authorization) {
  if (authorization.empty()) {
    return UnauthenticatedError("the call names no replica of this job: it has no token");
  }
  if (!authorization.starts_with(kScheme)) {
    return UnauthenticatedError("the call's authorization is not a bearer token");
  }
  return verifier.Verify(authorization.substr(kScheme.size()));
}

}  // namespace pstrain
