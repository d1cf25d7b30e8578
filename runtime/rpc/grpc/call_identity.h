#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "proto/contract/roles.h"
#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// Who a gRPC call is from. Free functions; any thread.

/// Adds this process' token to a call that has not begun; nothing without credentials.
Status AddToken(const Credentials* credentials, Audience audience, grpc::ClientContext& call);

/// The value of the header kAuthorizationHeader; empty when there is none.
std::string_view AuthorizationOf(const grpc::ServerContextBase& call);

/// Who makes a call that only those roles may make, by its header kAuthorizationHeader; nothing
/// without a verifier. The errors of VerifyBearer; PERMISSION_DENIED for another role.
Result<std::optional<Caller>> AdmitCaller(CallerVerifier* verifier, std::string_view authorization,
                                          std::span<const Role> roles);

/// The replica that a request speaks for.
struct SpokenFor {
  std::optional<std::uint32_t> index = std::nullopt;
  std::optional<std::uint32_t> attempt = std::nullopt;
};
/// PERMISSION_DENIED when the caller is another one; OK where nobody is asked who they are.
Status CheckSpeaksFor(const std::optional<Caller>& caller, const SpokenFor& replica);

}  // namespace pstrain
