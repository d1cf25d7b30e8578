#pragma once

#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace pstrain {

/// A channel to `address` ("host:port" or "unix:path") with its own connection: nothing is shared
/// with other channels to the same address. Reconnects after 100 ms to 2 s, resolves the name again
/// at most every 500 ms, ignores proxies, notices a dead peer by pings. Never null; connects when
/// it is first used.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address);

}  // namespace pstrain
