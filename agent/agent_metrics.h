#pragma once

#include <vector>

#include "agent/agent_state.h"
#include "base/metrics/collector.h"
#include "proto/contract/stats_page.h"
#include "proto/contract/task_env.h"

namespace pstrain {

/// Everything that /metrics shows: pstrain_agent_*, process_* of the agent and of the training
/// program (label `process`), and every slot of the page. All series carry job_name,
/// replica_type and replica_index; a slot's own labels of these names are left out. Any thread.
std::vector<MetricFamily> CollectAgentMetrics(const TaskEnv& task, const AgentState& state,
                                              const StatsPage& page);

}  // namespace pstrain
