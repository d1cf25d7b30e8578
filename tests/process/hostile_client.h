#pragma once

#include <string>

#include "base/status.h"

namespace pstrain {

/// One gRPC call of bytes that nobody checks before they leave: what any pod that reaches a port
/// can send. `authorization`: the value of that header; empty: none is sent. A stream's method is
/// called with one message. Blocks, 20 s at most.
Status CallRaw(const std::string& address, const std::string& method, const std::string& message,
               const std::string& authorization);

}  // namespace pstrain
