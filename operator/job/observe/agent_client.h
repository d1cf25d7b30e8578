#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/status.h"

namespace pstrain::job {

/// One question to the agent of a pod.
struct AgentRequest {
  std::string ip;  // IPv4 or IPv6, as status.podIP has it
  std::uint16_t port = 0;
  std::string path;  // e.g. "/progress"
  /// For all of it, from connecting to the last byte.
  std::chrono::milliseconds timeout{2000};
  std::size_t max_bytes = std::size_t{1} << 20;
};

/// GET http://IP:PORT/PATH over a connection of its own, as the agent keeps none open; the body of
/// a reply 200. Not by the transport to the apiserver, whose library cannot reach IPv6 addresses.
/// Blocks; any thread. INVALID_ARGUMENT for an address that is none, UNAVAILABLE when the agent
/// cannot be reached or answers something else, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED;
/// messages name the URL.
Result<std::string> GetFromAgent(const AgentRequest& request, const std::stop_token& stop);

}  // namespace pstrain::job
