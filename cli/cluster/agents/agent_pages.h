#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/cluster/session.h"
#include "operator/kube/api_error.h"

namespace pstrain::cluster {

/// What the agent of one pod has answered, and when. A value.
struct AgentAnswer {
  kube::ApiResult<std::string> page;
  std::chrono::nanoseconds at{};  // by the session's clock
};

/// Asks the agents of these pods for a page, as "/metrics", by the apiserver's proxy (get
/// pods/proxy): eight at a time, each at most 5 s. In the order of `pods`. One thread calls; it
/// starts others and joins them.
std::vector<AgentAnswer> AskAgents(const Session& session, const std::vector<std::string>& pods,
                                   const std::string& path);

}  // namespace pstrain::cluster
