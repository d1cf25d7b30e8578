#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// Who a gRPC call is from. Free functions; any thread.

/// Adds this process' token to a call that has not begun; nothing without credentials.
Status AddToken(const Credentials* credentials, Audience audience, grpc::ClientContext& call);

/// The value of the header kAuthorizationHeader; empty when there is none.
std::string_view AuthorizationOf(const grpc::ServerContextBase& call);

/// Which replicas may make a call.
struct CallRule {
  std::initializer_list<Role> roles;
  /// The replica that the request speaks for: the caller must be that one.
  std::optional<std::uint32_t> index = std::nullopt;
  std::optional<std::uint32_t> attempt = std::nullopt;
};
/// OK without a verifier. The errors of VerifyBearer; PERMISSION_DENIED for somebody else than the
/// rule says.
Status CheckCaller(const grpc::ServerContextBase& call, CallerVerifier* verifier,
                   const CallRule& rule);

}  // namespace pstrain
