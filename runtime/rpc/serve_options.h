#pragma once

#include <chrono>
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

/// What a server allows those who make control calls. A value.
struct ControlLimits {
  /// From a call's headers until its message is whole. Clients give such calls less time, except
  /// those whose answers take long, and these have short messages.
  std::chrono::milliseconds message_time{10'000};
  /// Calls that are carried out at a time; at least 1. A ps is called by its chief, one call after
  /// the other, and by former chiefs; a chief's handlers wait for one lock.
  std::size_t threads = 16;
  /// Calls whose messages have come and that wait for a thread; at least 1. A replica of the job
  /// has one or two.
  std::size_t waiting = 4096;
};

/// Whether a stream may carry a request of that op, now. An error ends the stream.
using OpCheck = std::function<Status(std::uint16_t op)>;
/// Whether a stream may be opened by who sends that header `authorization` (empty: none sent), and
/// for what. Any thread; must not block.
using StreamAdmission = std::function<Result<OpCheck>(std::string_view authorization)>;

/// Told of each stream, call and request that was answered with an error. Any thread; must not
/// block.
using ErrorObserver = std::function<void(const std::string& peer, const Status& error)>;

/// How a server treats its peers. A value.
struct ServeOptions {
  DataPlaneLimits limits = {};
  /// Bytes of one message from a peer; larger ones are refused with RESOURCE_EXHAUSTED.
  std::uint64_t message_bytes = std::numeric_limits<std::int32_t>::max();
  /// TCP connections that are open at a time; one more is closed as it comes.
  std::size_t connections = 1024;
  /// A connection must have come to its first HTTP/2 frame within the first; one without a call for
  /// the second is closed, and opened again by the next call.
  std::chrono::milliseconds first_frame_within{10'000};
  std::chrono::milliseconds most_idle{600'000};
  /// May be empty. Told of connections that are refused, too.
  ErrorObserver on_error = nullptr;
  /// Empty: anybody may open a stream.
  StreamAdmission admit = nullptr;
  /// Null: connections are not encrypted. Of transports over a network; outlives the server.
  const MutualTls* tls = nullptr;
};

}  // namespace pstrain
