#pragma once

#include <string>
#include <vector>

#include "base/os/unique_fd.h"
#include "base/status.h"
#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// One gRPC call of bytes that nobody checks before they leave: what any pod that reaches a port
/// can send. `authorization`: the value of that header; empty: none is sent. A stream's method is
/// called with one message. `connection`: encrypts it; null: in the clear. Blocks, 20 s at most.
Status CallRaw(const std::string& address, const std::string& method, const std::string& message,
               const std::string& authorization, const Credentials* connection = nullptr);

/// Connections that never say anything. Those that could not be made are closed descriptors.
std::vector<UniqueFd> SilentConnections(const std::string& address, int count);

}  // namespace pstrain
