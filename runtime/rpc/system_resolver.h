#pragma once

namespace pstrain {

/// Makes gRPC resolve names by getaddrinfo instead of its own c-ares, whose answer for a name that
/// has just come into being was seen to stay unread in a pod. First thing in main, before gRPC is
/// used and before other threads exist; a GRPC_DNS_RESOLVER of the environment wins.
void UseSystemResolver();

}  // namespace pstrain
