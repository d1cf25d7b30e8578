#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/problem.h"
#include "cli/cluster/replicas.h"
#include "cli/cluster/session.h"

namespace pstrain::cluster {

/// What a replica does, by two pages of its agent. A value; what is not known is absent.
struct ReplicaLoad {
  std::string replica;
  std::string pod;
  std::string node;
  std::int64_t attempt = 0;
  std::optional<double> rate = {};  // per second, of `unit`
  std::string unit = {};            // "examples" or "updates"
  /// Share of the time in which it did its work: 1 is one busy thread.
  std::optional<double> busy = {};
  std::optional<double> memory_bytes = {};
  /// Why the agent has not answered; empty when it has.
  std::string problem = {};
};

struct ReplicaLoads {
  std::vector<ReplicaLoad> replicas;
  /// Nobody may ask the agents: get pods/proxy is not permitted.
  std::optional<Problem> forbidden = {};
};

/// Asks the agents of all pods that run twice, `interval` apart. One thread; blocks.
ReplicaLoads MeasureLoads(Session& session, const std::vector<ReplicaPod>& pods,
                          std::chrono::nanoseconds interval);

/// "1234.5 examples/s", "37%", "1.2 GiB"; "-" for what is absent. Pure; any thread.
std::string RateText(const ReplicaLoad& load);
std::string ShareText(std::optional<double> share);
std::string BytesText(std::optional<double> bytes);

}  // namespace pstrain::cluster
