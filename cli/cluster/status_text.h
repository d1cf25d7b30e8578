#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "cli/cluster/agents/replica_loads.h"
#include "cli/cluster/session.h"

namespace pstrain::cluster {

/// "45s", "12m", "3h20m", "5d" since an RFC 3339 time; "-" where there is none. Pure; any thread.
std::string Age(const std::string& timestamp, Now now);

/// How an attempt has ended, of status.restarts.replicas.REPLICA.lastEnd: "OOMKilled (exit 137):
/// text on NODE, 3m ago". Pure; any thread.
std::string EndText(const Json& end, Now now);

/// The rows with each column as wide as its widest cell. Pure; any thread.
std::string Columns(const std::vector<std::vector<std::string>>& rows);

/// One line per job, as `kubectl get pstj`. Pure; any thread.
std::string JobTable(const std::vector<Json>& jobs, Now now);

/// All that the status of a job and its pods say: phase, conditions, replicas with their last ends,
/// restarts by cause, progress; with the rates that `loads` knows. REQUIRES: the job has a status.
/// Pure; any thread.
std::string JobReport(const Json& job, const std::vector<Json>& pods,
                      const std::vector<ReplicaLoad>& loads, Now now);

/// The line of its progress, by its status alone. Pure; any thread.
std::string ProgressLine(const Json& job);

}  // namespace pstrain::cluster
