#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

class MutualTls;

/// What one peer, and all of them, may ask of a server's data plane at a time. A value.
struct DataPlaneLimits {
  /// Streams that are open; others are refused with RESOURCE_EXHAUSTED. 0: no limit.
  std::uint32_t streams = 0;
  /// Requests of one stream whose replies have not gone out; the next ones are not read meanwhile.
  /// At least 1.
  std::uint32_t requests_per_stream = 256;
};

/// Whether a stream may carry a request of that op, now. An error ends the stream.
using OpCheck = std::function<Status(std::uint16_t op)>;
/// Whether a stream may be opened by who sends that header `authorization` (empty: none sent), and
/// for what. Any thread; must not block.
using StreamAdmission = std::function<Result<OpCheck>(std::string_view authorization)>;

/// Told of each stream and request that was answered with an error. Any thread; must not block.
using ErrorObserver = std::function<void(const std::string& peer, const Status& error)>;

/// How a server of the data plane treats its peers. A value.
struct ServeOptions {
  DataPlaneLimits limits = {};
  /// Bytes of one message from a peer; larger ones are refused with RESOURCE_EXHAUSTED.
  std::uint64_t message_bytes = std::numeric_limits<std::int32_t>::max();
  /// TCP connections that are open at a time; one more is closed as it comes.
  std::size_t connections = 1024;
  /// May be empty. Told of connections that are refused, too.
  ErrorObserver on_error = nullptr;
  /// Empty: anybody may open a stream.
  StreamAdmission admit = nullptr;
  /// Null: connections are not encrypted. Of transports over a network; outlives the server.
  const MutualTls* tls = nullptr;
};

}  // namespace pstrain
