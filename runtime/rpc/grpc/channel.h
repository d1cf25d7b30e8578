#pragma once

#include <memory>
#include <string>

#include "runtime/rpc/identity/caller.h"

namespace grpc {
class Channel;
}

namespace pstrain {

/// A channel to `address` ("host:port" or "unix:path") with its own connection: nothing is shared
/// with other channels to the same address. Reconnects after 100 ms to 2 s, resolves the name again
/// at most every 500 ms, ignores proxies, notices a dead peer by pings. Never null; connects when
/// it is first used. Encrypted where the credentials say so (null: it is not). A reply of more than
/// `most_bytes` is RESOURCE_EXHAUSTED; -1: there is no such limit. Any thread; gRPC's channel is
/// used by any number of them.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const Credentials* credentials = nullptr,
                                           int most_bytes = -1);

}  // namespace pstrain
