#pragma once

#include <array>
#include <vector>

#include "agent/agent_state.h"
#include "base/metrics/collector.h"
#include "base/metrics/definition.h"
#include "proto/contract/stats_page.h"
#include "proto/contract/task_env.h"

namespace pstrain {

/// The agent's own families; those of processes have the label `process` besides.
namespace agent_metrics {
inline constexpr MetricDefinition kInfo{"pstrain_agent_info", MetricType::kGauge, "version",
                                        "1; labels say what runs here."};
inline constexpr MetricDefinition kRuntimeUp{"pstrain_agent_runtime_up", MetricType::kGauge, "",
                                             "1 while the training program runs."};
inline constexpr MetricDefinition kAttempt{"pstrain_agent_attempt", MetricType::kGauge, "",
                                           "Attempt of this replica, from 0."};
inline constexpr MetricDefinition kNotices{"pstrain_agent_preemption_notices_total",
                                           MetricType::kCounter, "source", "Requests to stop."};
inline constexpr MetricDefinition kOrphans{
    "pstrain_agent_orphans_reaped_total", MetricType::kCounter, "",
    "Ended processes that the training program left behind."};
inline constexpr std::array kAll = {kInfo, kRuntimeUp, kAttempt, kNotices, kOrphans};
}  // namespace agent_metrics

/// Labels that all series of an agent carry.
inline constexpr std::array kReplicaLabels = {"job_name", "replica_type", "replica_index"};

/// Everything that /metrics shows: pstrain_agent_*, process_* of the agent and of the training
/// program (label `process`), and every slot of the page. All series carry job_name,
/// replica_type and replica_index; a slot's own labels of these names are left out. Any thread.
std::vector<MetricFamily> CollectAgentMetrics(const TaskEnv& task, const AgentState& state,
                                              const StatsPage& page);

}  // namespace pstrain
